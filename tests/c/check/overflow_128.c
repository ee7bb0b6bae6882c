// The exact product of a negative 128-bit integer and a truth value is that integer.
// palisade check --property unreach-call tests/c/check/overflow_128.c
// verdict: true
extern void reach_error(void);
extern _Bool __VERIFIER_nondet_bool(void);
int main(void) {
    __int128 a = -5;
    unsigned __int128 big = ~(unsigned __int128)0;
    _Bool b = __VERIFIER_nondet_bool();
    int r;
    if (__builtin_mul_overflow(a, b, &r) || r != (b ? -5 : 0))
        reach_error();
    if (!__builtin_add_overflow(big, 1, &r) || !__builtin_mul_overflow(big, a, &r))
        reach_error();
    if (__builtin_sub_overflow(big, big - 7, &r) || r != 7)
        reach_error();
    if (__builtin_add_overflow(big, -(__int128)(big >> 1) - 1, &big) || big != ~(unsigned __int128)0 >> 1)
        reach_error();
    return 0;
}
