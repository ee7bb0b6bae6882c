// Linear loops: sums, differences, steps and the example of section 6.3.
// A marker stands where the invariant of the loop on its line is evaluated.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assert(int);

int template(int n) {
    int x = 0, y = 1;
    if (n <= 0)
        return 0;
    while (/*@,*/ x != n) {
        x = x + 1;
        y = y + 2;
    }
    __VERIFIER_assert(y == 2 * n + 1);
    return y;
}

int steps(void) {
    unsigned i = 0;
    while (/*@,*/ i < 100)
        i += 3;
    __VERIFIER_assert(i <= 102);
    return i;
}

int down_and_up(int n) {
    int a = n, b = 0;
    for (; /*@,*/ a > 0; a--)
        b++;
    int c = b;
    do {
        /*@;*/ c -= 2;
    } while (c > 0);
    return c;
}

int nested(int n, int m) {
    int total = 0;
    for (int i = 0; /*@,*/ i < n; i++) {
        for (int j = i; /*@,*/ j < m; j++) {
            total++;
            if (__VERIFIER_nondet_int() == 0)
                break;
        }
    }
    return total;
}

int ten(void) {
    int i = 0;
    while (/*@,*/ i < 10)
        i++;
    __VERIFIER_assert(i == 10);
    return i;
}

int main(void) {
    int n = __VERIFIER_nondet_int() % 40, m = __VERIFIER_nondet_int() % 40;
    template(n);
    steps();
    down_and_up(m);
    nested(n, m);
    ten();
    return 0;
}
