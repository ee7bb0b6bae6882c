// true: Pours are counted in batches of eight; the totals agree whenever no batch is open.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int open = 0, in_batch = 0, batches = 0, pours = 0;
    while (pours < 100000 && __VERIFIER_nondet_int()) {
        if (!open) {
            open = 1;
            in_batch = 0;
        } else {
            in_batch++;
            pours++;
            if (in_batch == 8) {
                batches++;
                open = 0;
            }
        }
        if (in_batch > 8)
            reach_error();
        if (!open && pours != 8 * batches)
            reach_error();
    }
    return 0;
}
