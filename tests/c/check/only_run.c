// A program without inputs has one run, however deep it recurses; names of variables do not matter.
// palisade check --analysis concrete tests/c/check/only_run.c
// verdict: true
#include <assert.h>
#include <stdio.h>
int ways(int n) {
    int left, right;
    if (n < 2) return 1;
    left = ways(n - 1);
    right = ways(n - 2);
    return left + right;
}
int main(void) {
    int table[3] = {0};
    int *p = &table[1];
    *p = ways(20);
    printf("%d\n", *p);
    assert(table[1] == 10946);
    return 0;
}
