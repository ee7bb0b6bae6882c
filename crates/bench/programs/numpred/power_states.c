// true: A device goes to sleep only when it is idle, and wakes before it works.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int power = 0, busy = 0, idle = 0;
    while (__VERIFIER_nondet_int()) {
        int request = __VERIFIER_nondet_int();
        if (request == 1) {
            if (power != 0)
                power = 0;
            busy = 1;
            idle = 0;
        } else if (request == 2) {
            busy = 0;
        } else if (!busy) {
            if (idle < 30)
                idle++;
            if (idle >= 30 && power < 3) {
                power++;
                idle = 0;
            }
        }
        if (busy && power != 0)
            reach_error();
        if (power < 0 || power > 3 || idle > 30)
            reach_error();
        if (busy && idle != 0)
            reach_error();
    }
    return 0;
}
