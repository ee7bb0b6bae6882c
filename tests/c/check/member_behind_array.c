// An index that leaves its array changes the member behind it, inside of the object.
// palisade check tests/c/check/member_behind_array.c
// verdict: false(unreach-call)
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
struct pair {
    int items[2];
    int guard;
};

static void set(struct pair *p, int i) {
    p->items[i] = 1;
}

int main(void) {
    struct pair p = {{0, 0}, 0};
    int i = __VERIFIER_nondet_int();
    if (i < 0 || i > 2)
        return 0;
    set(&p, i);
    assert(p.guard == 0);
    return 0;
}
