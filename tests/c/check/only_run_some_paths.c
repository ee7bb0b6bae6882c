// The variable is set on one path only, and read on both.
// palisade check --analysis concrete tests/c/check/only_run_some_paths.c
// verdict: false(unreach-call)
#include <assert.h>
int main(void) {
    int x, n = 3;
    for (int i = 0; i < n; i++)
        if (i == 5) x = 1;
    assert(x != 77123);
    return 0;
}
