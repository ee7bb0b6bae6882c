// An array with less than nothing in it.
// palisade check --property def-behavior array_length.c
// violation: an array has a size of -8 bytes
int main(void) {
    int n = -2;
    int a[n];
    return sizeof a > 0;
}
