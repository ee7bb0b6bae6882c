// A pointer that walks through memory until it is null takes as many steps as its address says.
// palisade check --analysis concrete --data-model ilp32 tests/c/check/only_run_walk.c
// verdict: unknown
#include <assert.h>
char a[16];
int main(void) {
    int n = 0;
    for (char *p = a; p; p += 0x10000000) if (++n == 16) break;
    assert(n != 12345);
    return 0;
}
