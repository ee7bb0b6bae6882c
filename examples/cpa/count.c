// Section 6.1 of "Combining Model Checking and Data-Flow Analysis": the error needs i > 10, which the loop keeps out.
// palisade check --analysis backward examples/cpa/count.c
// verdict: true
#include <assert.h>

int main(void) {
    int i = 0;
    while (i < 10)
        i = i + 1;
    assert(i <= 10);
}
