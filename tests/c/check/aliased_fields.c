// A field is written through a pointer to its neighbour's array.
// palisade check tests/c/check/aliased_fields.c
// verdict: false(unreach-call)
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
struct pair { int a; int b; };
int main(void) {
    struct pair pairs[2] = {{1, 2}, {3, 4}};
    int *p = &pairs[0].b;
    int i = __VERIFIER_nondet_int();
    if (i < 0 || i > 1) return 0;
    struct pair *q = &pairs[i];
    q->b = 7;
    assert(*p == 2);
    return 0;
}
