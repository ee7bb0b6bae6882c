// A pointer to a block's local outlives the block, and the block is entered again.
// palisade check --property valid-memsafety tests/c/check/dangling_block_local.c
// verdict: false(valid-deref)
int main(void) {
    int *p = 0, sum = 0;
    for (int i = 0; i < 2; i++) {
        int x = i;
        if (p)
            sum += *p;
        p = &x;
    }
    return sum;
}
