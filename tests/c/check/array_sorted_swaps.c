// Neighbours are swapped until there is nothing to swap: what is before the inner counter is in order unless something was swapped.
// palisade check --analysis arrays --time-limit 120s tests/c/check/array_sorted_swaps.c
// verdict: true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int a[1000];
int main(void) {
    for (int i = 0; i < 1000; i++)
        a[i] = __VERIFIER_nondet_int();
    int swapped = 1;
    while (swapped) {
        swapped = 0;
        for (int j = 1; j < 1000; j++)
            if (a[j - 1] > a[j]) {
                int t = a[j];
                a[j] = a[j - 1];
                a[j - 1] = t;
                swapped = 1;
            }
    }
    for (int x = 1; x < 1000; x++)
            assert(a[x-1] <= a[x]);
    return 0;
}
