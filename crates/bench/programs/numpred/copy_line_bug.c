// false: The check of the index comes after its last use.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int i = 0, full = 0;
    while (__VERIFIER_nondet_int()) {
        if (i >= 5)
            reach_error();
        if (!full)
            i++;
        if (i > 5)
            full = 1;
    }
    return 0;
}
