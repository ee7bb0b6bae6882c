// An index that is not checked.
// palisade check --property valid-memsafety index.c
// violation: write at index 8, outside of `t.slots` (8 elements): `t.slots[i] = i`
struct table {
    int n;
    int slots[8];
};
struct table t;
int main(void) {
    for (int i = 0; i < 9; i++)
        t.slots[i] = i;
    return 0;
}
