// false: The belt is unblocked by the sensor even if nothing left it.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int pieces = 0, blocked = 0;
    while (__VERIFIER_nondet_int()) {
        int sensor = __VERIFIER_nondet_int();
        if (!blocked && sensor == 1) {
            pieces++;
            if (pieces == 3)
                blocked = 1;
        } else if (sensor == 2) {
            if (pieces > 0)
                pieces--;
            blocked = 0;
        } else if (sensor == 4) {
            blocked = 0;
        }
        if (pieces > 3)
            reach_error();
    }
    return 0;
}
