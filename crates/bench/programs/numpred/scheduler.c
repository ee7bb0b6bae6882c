// true: A kernel counts how deep interrupts and locks are nested, and switches tasks only at the bottom.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int running = 0, interrupts = 0, locks = 0, wanted = 0;
    while (__VERIFIER_nondet_int()) {
        int call = __VERIFIER_nondet_int();
        int from_interrupt = 0;
        if (call == 1 && !running) {
            running = 1;
        } else if (call == 2 && running) {
            if (interrupts < 255)
                interrupts++;
        } else if (call == 3 && running && interrupts > 0) {
            interrupts--;
            from_interrupt = 1;
        } else if (call == 4 && running && interrupts == 0) {
            if (locks < 255)
                locks++;
        } else if (call == 5 && running && locks > 0) {
            locks--;
        } else if (call == 6) {
            wanted = 1;
        }
        if (wanted && running && interrupts == 0 && locks == 0) {
            if (!from_interrupt && !running)
                reach_error();
            wanted = 0;
        }
        if (!running && (interrupts != 0 || locks != 0))
            reach_error();
        if (interrupts > 255 || locks > 255)
            reach_error();
    }
    return 0;
}
