// A constant of static storage duration cannot be written.
// palisade check --property valid-memsafety tests/c/check/write_to_constant.c
// verdict: false(valid-deref)
static const int table[2] = {5, 6};
int main(void) { int *p = (int *)table; *p = 6; return 0; }
