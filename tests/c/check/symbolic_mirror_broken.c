// What does not hold is not proved by transformers of whole pieces.
// palisade check --analysis symbolic-octagon tests/c/check/symbolic_mirror_broken.c
// verdict: unknown
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int x = 0, y = 0, i = 0;
    while (i < 100) {
        int up = __VERIFIER_nondet_int();
        if (up) x++;
        else x--;
        if (up) y--;
        else y++;
        i++;
    }
    assert(x + y == 0 && x < 100);
    return 0;
}
