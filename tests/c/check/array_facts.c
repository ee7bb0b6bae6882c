// All elements, of arrays too long to be unrolled.
// palisade check tests/c/check/array_facts.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int a[100000], b[100000];

int main(void) {
    int least = 0;
    for (int i = 0; i < 100000; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < 100000; i++) {
        b[i] = a[i];
        if (a[i] < least)
            least = a[i];
    }
    for (int i = 0; i < 100000; i++)
        if (b[i] < least)
            reach_error();
    return 0;
}
