// An address as a number is not determined, by whatever way it becomes one.
// palisade check --analysis concrete tests/c/check/only_run_hash.c
// verdict: unknown
#include <assert.h>
int a;
union { int *p; unsigned char bytes[sizeof(int *)]; } u;
int main(void) {
    u.p = &a;
    assert(u.bytes[1] != 0x99);
    return 0;
}
