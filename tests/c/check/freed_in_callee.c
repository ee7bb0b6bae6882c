// The pointer was valid before the call, which frees it.
// palisade check --property valid-memsafety tests/c/check/freed_in_callee.c
// verdict: false(valid-deref)
#include <stdlib.h>
void drop(int *p) { free(p); }
int main(void) {
    int *p = malloc(4);
    *p = 3;
    drop(p);
    return *p;
}
