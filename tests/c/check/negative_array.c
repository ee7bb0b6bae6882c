// An array with a negative length has no element.
// palisade check --property valid-memsafety tests/c/check/negative_array.c
// verdict: false(valid-deref)
int main(void) {
    int n = -1;
    int a[n];
    a[0] = 1;
    return 0;
}
