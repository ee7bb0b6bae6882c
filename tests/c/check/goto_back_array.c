// A variable length array ends when control jumps back to before its declaration.
// palisade check --property valid-memsafety tests/c/check/goto_back_array.c
// verdict: false(valid-deref)
int main(void) {
    int n = 2;
    char *p = 0;
again:;
    char a[n];
    a[0] = 1;
    if (p)
        return *p;
    p = a;
    goto again;
}
