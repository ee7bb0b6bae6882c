// A search for equal elements, downwards and given up when there are some: without any, all elements differ.
// palisade check --analysis arrays --time-limit 120s tests/c/check/array_distinct.c
// verdict: true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int a[1000];

int main(void) {
    int i, differ = 1;
    for (i = 0; i < 1000; i++)
        a[i] = __VERIFIER_nondet_int();
    for (i = 1; i < 1000 && differ; i++)
        for (int j = i - 1; j >= 0 && differ; j--)
            if (a[i] == a[j])
                differ = 0;
    if (differ)
        for (int x = 0; x < 1000; x++)
            for (int y = x + 1; y < 1000; y++)
                assert(a[x] != a[y]);
    return 0;
}
