// Two branches on the same condition: joined between them, they lose that x and y change together; as one step they do not.
// palisade check --analysis symbolic-octagon tests/c/check/symbolic_mirror.c
// verdict: true
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
    assert(x + y == 0);
    return 0;
}
