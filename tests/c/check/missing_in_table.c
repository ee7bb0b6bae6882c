// The address of a function that nobody has stands in a table; the violation does not need the function.
// palisade check tests/c/check/missing_in_table.c
// verdict: false(unreach-call)
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
void nobody(void);
static void known(void) {}
void (*table[2])(void) = {nobody, known};

int main(void) {
    if (__VERIFIER_nondet_int() == 7) {
        table[1]();
        reach_error();
    }
    return 0;
}
