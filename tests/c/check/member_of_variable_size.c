// Members of variable size lie one behind the other, whatever the length is.
// palisade check tests/c/check/member_of_variable_size.c --property def-behavior
// verdict: true
#include <assert.h>
#include <stddef.h>
#include <string.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 9) return 0;
    struct list { char kind; short items[n]; int last; double sum; } a, b, *p = &b;
    a.kind = 1;
    a.last = n;
    a.sum = 0.5;
    for (int i = 0; i < n; i++) a.items[i] = (short)i;
    memcpy(p, &a, sizeof a);
    assert(p->kind == 1 && p->last == n && p->sum == 0.5 && p->items[n - 1] == n - 1);
    assert((char *)&p->sum - (char *)p == offsetof(struct list, sum));
    assert(sizeof b >= 1 + 2 * n + sizeof(int) + sizeof(double));
    return 0;
}
