// Section 2.2 of "Combining Model Checking and Data-Flow Analysis": z is 5 on both paths.
// palisade check --analysis location+explicit --merge sep examples/cpa/paths.c
// verdict: true
#include <assert.h>

int main(int argc, char **argv) {
    int x, y, z;
    if (argc == 1) {
        x = 2;
        y = 3;
    } else {
        x = 3;
        y = 2;
    }
    z = x + y;
    assert(z == 5);
}
