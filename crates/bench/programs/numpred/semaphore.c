// true: Somebody waits for a semaphore only while its count is zero.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int count = __VERIFIER_nondet_int(), waiting = 0, deleted = 0;
    if (count < 0 || count > 100)
        return 0;
    while (!deleted && __VERIFIER_nondet_int()) {
        int call = __VERIFIER_nondet_int();
        if (call == 0) {
            if (count > 0)
                count--;
            else if (waiting < 64)
                waiting++;
        } else if (call == 1) {
            if (waiting > 0)
                waiting--;
            else if (count < 65535)
                count++;
        } else if (call == 2) {
            if (waiting == 0)
                deleted = 1;
        }
        if (waiting > 0 && count > 0)
            reach_error();
        if (deleted && waiting != 0)
            reach_error();
    }
    return 0;
}
