// What alloca made dies when the function returns that called it.
// palisade check --analysis bmc --property valid-memsafety tests/c/check/alloca_returned.c
// verdict: false(valid-deref)
#include <alloca.h>
static char *made(void) {
    char *p = alloca(4);
    *p = 1;
    return p;
}
int main(void) {
    return *made();
}
