// A shift by as many bits as there are.
// palisade check --property def-behavior shift.c
// violation: `1 << n` shifts by 40, outside of its type
int main(void) {
    int n = 40;
    return 1 << n;
}
