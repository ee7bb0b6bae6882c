// The last element is never looked at, so it need not be the greatest. (The loops are too long for the run that shows it to be found by unrolling.)
// palisade check --time-limit 10s tests/c/check/array_sorted_almost.c
// verdict: unknown
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int a[100000];

int main(void) {
    for (int i = 0; i < 100000; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < 99999; i++) {
        int least = i;
        for (int j = i + 1; j < 99999; j++)
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
