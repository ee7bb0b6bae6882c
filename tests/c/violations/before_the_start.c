// A pointer that was moved back too far.
// palisade check --property valid-memsafety before_the_start.c
// violation: read of 1 byte, 1 before the start of `s` (4 bytes): `*p`
int main(void) {
    char s[4] = "abc";
    char *p = s + 3;
    while (*p != 'x')
        p--;
    return 0;
}
