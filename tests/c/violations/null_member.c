// A member of what is not there.
// palisade check --property valid-memsafety null_member.c
// violation: write of 4 bytes through a null pointer, 8 bytes behind it: `p->c = 1`
struct s {
    int a, b, c;
};
int main(void) {
    struct s *p = 0;
    p->c = 1;
    return 0;
}
