// Sorted by selection: what is before the counter is in order, and not greater than the rest.
// palisade check --analysis arrays --time-limit 120s tests/c/check/array_sorted_selection.c
// verdict: true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int a[100000];

int main(void) {
    for (int i = 0; i < 100000; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < 99999; i++) {
        int least = i;
        for (int j = i + 1; j < 100000; j++)
            if (a[j] < a[least])
                least = j;
        int t = a[i];
        a[i] = a[least];
        a[least] = t;
    }
    for (int i = 0; i < 99999; i++)
        assert(a[i] <= a[i + 1]);
    return 0;
}
