// Products of equal factors are equal: the element that a pass sets is a case of its own.
// palisade check --analysis arrays --time-limit 60s tests/c/check/array_products.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

long squares[5000];

int main(void) {
    int count = __VERIFIER_nondet_int();
    if (count < 1 || count > 5000)
        return 0;
    for (long i = 0; i < count; i++)
        squares[i] = i * i;
    for (long i = 0; i < count; i++)
        if (squares[i] != i * i)
            reach_error();
    return 0;
}
