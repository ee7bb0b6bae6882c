// true: A device is powered while somebody has it open.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int opened = 0, powered = 0, removed = 0;
    while (__VERIFIER_nondet_int()) {
        int call = __VERIFIER_nondet_int();
        if (call == 1 && !removed && opened < 100) {
            if (opened == 0)
                powered = 1;
            opened++;
        } else if (call == 2 && opened > 0) {
            opened--;
            if (opened == 0)
                powered = 0;
        } else if (call == 3) {
            removed = 1;
        }
        if (opened > 0 && !powered)
            reach_error();
        if (powered && opened == 0)
            reach_error();
    }
    return 0;
}
