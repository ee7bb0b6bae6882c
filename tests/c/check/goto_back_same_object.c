// A jump back to before a declaration finds the same object again: it lives as long as its block.
// palisade check --property valid-memsafety tests/c/check/goto_back_same_object.c
// verdict: true
int main(void) {
    int *p = 0;
again:;
    int x;
    if (p)
        return *p;
    p = &x;
    *p = 3;
    goto again;
}
