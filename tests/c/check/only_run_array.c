// One element of the array is not set.
// palisade check --analysis concrete tests/c/check/only_run_array.c
// verdict: unknown
#include <assert.h>
int main(void) {
    int a[4];
    for (int i = 0; i < 3; i++) a[i] = i;
    assert(a[3] != 77123);
    return 0;
}
