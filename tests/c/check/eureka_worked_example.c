// Table 1 of "Abstraction Refinement of Linear Programs with Arrays": one element of thirty matters.
// palisade check --analysis eureka tests/c/check/eureka_worked_example.c
// verdict: true
extern void reach_error(void);

int main(void) {
    int i, a[30];
    a[1] = 9;
    i = 0;
    while (a[i] != 9) {
        a[i] = 2 * i;
        i = i + 1;
    }
    if (!(i <= 1))
        reach_error();
    return 0;
}
