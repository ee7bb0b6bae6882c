// true: A header is unfolded into a buffer. An open quote keeps one place free for the one that closes it.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

enum { SIZE = 100 };

int main(void) {
    int quoted = 0, used = 0;
    int limit = SIZE;
    while (__VERIFIER_nondet_int()) {
        int c = __VERIFIER_nondet_int();
        if (c == '"') {
            if (quoted) {
                used = used + 1;
                quoted = 0;
                limit = limit + 1;
            } else if (used + 2 <= limit) {
                used = used + 1;
                quoted = 1;
                limit = limit - 1;
            }
        } else if (used < limit) {
            used = used + 1;
        }
        if (used > SIZE)
            reach_error();
    }
    if (quoted) {
        used = used + 1;
    }
    if (used > SIZE)
        reach_error();
    return 0;
}
