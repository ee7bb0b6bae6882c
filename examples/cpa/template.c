// Section 6.3 of "Combining Model Checking and Data-Flow Analysis": y = 2x + 1 holds in the loop.
// palisade check --analysis template examples/cpa/template.c
// verdict: true
#include <assert.h>

int main(void) {
    int x = 0, y = 1;
    while (x < 1000) {
        x = x + 1;
        y = y + 2;
    }
    assert(y == 2 * x + 1);
}
