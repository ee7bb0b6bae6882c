// A pointer to a variable outlives it.
// palisade check --property valid-memsafety dead_variable.c
// violation: read of 4 bytes of `local` (4 bytes), a variable of `f` whose life has ended: `*f()`
int *f(void) {
    int local = 3;
    int *p = &local;
    return p;
}
int main(void) {
    return *f();
}
