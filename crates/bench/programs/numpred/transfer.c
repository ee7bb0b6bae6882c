// true: A transfer in pieces: the two halves of a buffer take turns, and what was sent is what was filled.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int half = 0, ready = 0, filled = 0, sent = 0;
    while (filled < 1000000 && __VERIFIER_nondet_int()) {
        if (!ready) {
            int n = __VERIFIER_nondet_int();
            if (n >= 1 && n <= 32) {
                filled = filled + n;
                ready = 1;
            }
        } else {
            sent = filled;
            ready = 0;
            half = 1 - half;
        }
        if (half != 0 && half != 1)
            reach_error();
        if (!ready && sent != filled)
            reach_error();
        if (sent > filled)
            reach_error();
    }
    return 0;
}
