// A number is no pointer.
// palisade check --property valid-memsafety wild.c
// violation: read of 4 bytes through a pointer to no object: `*p`
int main(void) {
    int *p = (int *)123456789L;
    return *p;
}
