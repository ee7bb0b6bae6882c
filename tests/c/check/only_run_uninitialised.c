// What an uninitialised variable holds is not determined: one run shows nothing, another does.
// palisade check --analysis concrete tests/c/check/only_run_uninitialised.c
// verdict: false(unreach-call)
#include <assert.h>
int main(void) {
    int x;
    if (x == 77123) assert(0);
    return 0;
}
