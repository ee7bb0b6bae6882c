// Sorted by insertion, any number of elements: all but the one that makes room are in order.
// palisade check --analysis arrays --time-limit 120s tests/c/check/array_sorted_insertion.c
// verdict: true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 1000000) return 0;
    int a[n];
    for (int i = 0; i < n; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int j = 1; j < n; j++) {
        int key = a[j];
        int i = j - 1;
        while (i >= 0 && a[i] > key) {
            a[i + 1] = a[i];
            i = i - 1;
        }
        a[i + 1] = key;
    }
    for (int k = 1; k < n; k++)
        assert(a[k - 1] <= a[k]);
    return 0;
}
