// Loops that proof rules bound (Example 13): how often they are taken is counted.
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);

int both(int n, int m) {
    int x = 0, y = 0;
    /*@b*/
    while (/*@t*/ x < n && y < m) {
        if (__VERIFIER_nondet_int() % 2)
            x = x + 1;
        else
            y = y + 1;
    }
    return x + y;
}

int shifted(unsigned x) {
    /*@b*/
    while (/*@t*/ x != 0)
        x = x << 1;
    return 0;
}

int cleared(unsigned x) {
    /*@b*/
    while (/*@t*/ x != 0)
        x = x & (x - 1);
    return 0;
}

int strides(int i, int n) {
    /*@b*/
    for (; /*@t*/ i < n; i += 3)
        n = n - __VERIFIER_nondet_int() % 2 * (__VERIFIER_nondet_int() % 2);
    return i;
}

int unbounded(int i) {
    /*@b*/
    while (/*@t*/ i != 0)
        i = i - 2;
    return i;
}

int main(void) {
    both(__VERIFIER_nondet_int() % 20, __VERIFIER_nondet_int() % 20);
    shifted(__VERIFIER_nondet_uint());
    cleared(__VERIFIER_nondet_uint());
    strides(__VERIFIER_nondet_int() % 50, __VERIFIER_nondet_int() % 100);
    unbounded(__VERIFIER_nondet_int() % 50);
    return 0;
}
