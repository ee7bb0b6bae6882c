// true: A watchdog that is armed fires within fifty ticks of the last sign of life.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int armed = 0, ticks = 0, fired = 0, silent = 0;
    while (__VERIFIER_nondet_int()) {
        int event = __VERIFIER_nondet_int();
        if (event == 1 && !armed) {
            armed = 1;
            ticks = 0;
            silent = 0;
            fired = 0;
        } else if (event == 2 && armed && !fired) {
            ticks = 0;
            silent = 0;
        } else if (event == 3) {
            armed = 0;
            fired = 0;
        } else if (armed && !fired) {
            ticks++;
            silent++;
            if (ticks >= 50)
                fired = 1;
        }
        if (armed && !fired && silent >= 50)
            reach_error();
        if (fired && !armed)
            reach_error();
    }
    return 0;
}
