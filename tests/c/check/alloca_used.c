// Until the function returns, what alloca made is there.
// palisade check --analysis bmc --property valid-memsafety tests/c/check/alloca_used.c
// verdict: true
#include <alloca.h>
static int first(const char *p) {
    return p[0];
}
static int made(int n) {
    char *p = alloca(4);
    p[0] = n;
    return first(p);
}
int main(void) {
    return made(1) + made(2);
}
