// Which object lies higher is not determined.
// palisade check --analysis concrete tests/c/check/only_run_address.c
// verdict: unknown
#include <assert.h>
int a, b;
int main(void) {
    int *p = &a, *q = &b;
    if (p > q) assert(0);
    return 0;
}
