// An element of a vector overflows in its own type, without promotion.
// palisade check --property no-overflow tests/c/check/vector_overflow.c
// verdict: false(no-overflow)
typedef signed char v8 __attribute__((vector_size(8)));
int main(void) {
    v8 a = { 1, 100 };
    a = a + a;
    return a[0];
}
