// The worked example with the mark one element further: the assertion is wrong then.
// palisade check --analysis eureka tests/c/check/eureka_worked_example_wrong.c
// verdict: false(unreach-call)
extern void reach_error(void);

int main(void) {
    int i, a[30];
    a[0] = 0;
    a[1] = 0;
    a[2] = 9;
    i = 0;
    while (a[i] != 9) {
        a[i] = 2 * i;
        i = i + 1;
    }
    if (!(i <= 1))
        reach_error();
    return 0;
}
