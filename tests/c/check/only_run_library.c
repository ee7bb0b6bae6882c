// What a library function returns is not determined: some run goes wrong.
// palisade check --analysis concrete tests/c/check/only_run_library.c
// verdict: false(unreach-call)
#include <assert.h>
#include <time.h>
int main(void) {
    assert(time(0) != 77123);
    return 0;
}
