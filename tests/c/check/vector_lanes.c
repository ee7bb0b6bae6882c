// Operators on vectors work on each element.
// palisade check tests/c/check/vector_lanes.c
// verdict: true
typedef int v4 __attribute__((vector_size(16)));
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x < -1000 || x > 1000) return 0;
    v4 a = { x, x + 1, x + 2, x + 3 };
    v4 b = a * 2 - a, same = a == b;
    if (same[0] != -1 || same[3] != -1 || (a + b)[2] != 2 * x + 4) reach_error();
    return 0;
}
