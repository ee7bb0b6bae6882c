// true: Three valves open one after the other, and the pump runs only when the way is free.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int phase = 0, v1 = 0, v2 = 0, v3 = 0, pump = 0, wait = 0;
    while (__VERIFIER_nondet_int()) {
        switch (phase) {
        case 0:
            v1 = 1;
            wait = 5;
            phase = 1;
            break;
        case 1:
            if (wait > 0) {
                wait--;
            } else {
                v2 = 1;
                wait = 3;
                phase = 2;
            }
            break;
        case 2:
            if (wait > 0) {
                wait--;
            } else {
                v3 = 1;
                pump = 1;
                phase = 3;
            }
            break;
        case 3:
            if (__VERIFIER_nondet_int()) {
                pump = 0;
                phase = 4;
            }
            break;
        case 4:
            v1 = 0;
            v2 = 0;
            v3 = 0;
            phase = 0;
            break;
        default:
            reach_error();
        }
        if (pump && !(v1 && v2 && v3))
            reach_error();
        if (wait < 0 || wait > 5)
            reach_error();
    }
    return 0;
}
