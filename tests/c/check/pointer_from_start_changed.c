// Pointers with initial values that do change: by name, and through a pointer to the pointer.
// palisade check tests/c/check/pointer_from_start_changed.c
// verdict: false(unreach-call)
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

static int x, y, z;
static int *direct = &x;
static int *behind = &y;
static int **to_behind = &behind;
static int *table[2] = {&z, &x};

int main(void) {
    *direct = 1;
    direct = &y;
    *direct = 2;
    if (x != 1 || y != 2)
        return 1;
    *to_behind = &z;
    *behind = 3;
    if (y != 2 || z != 3)
        return 1;
    *table[__VERIFIER_nondet_int() & 1] = 4;
    if (z == 4 || x == 4)
        reach_error();
    return 0;
}
