// Only the end of the string matters, however long it is.
// palisade check --analysis eureka tests/c/check/eureka_string_copy.c
// verdict: true
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);

char source[100000], target[100000];

int main(void) {
    int i;
    for (i = 0; i < 100000; i++)
        source[i] = __VERIFIER_nondet_char();
    source[99999] = 0;
    i = 0;
    while (source[i] != 0) {
        target[i] = source[i];
        i++;
    }
    target[i] = 0;
    if (!(i < 100000))
        reach_error();
    return 0;
}
