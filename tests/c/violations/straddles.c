// Half of what is read is outside.
// palisade check --property valid-memsafety straddles.c
// violation: read of 8 bytes, of which 4 past the end of `buf` (16 bytes): `*p`
int main(void) {
    char buf[16] = "0123456789";
    long long *p = (long long *)(buf + 12);
    return *p == 3;
}
