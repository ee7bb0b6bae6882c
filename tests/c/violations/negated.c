// The smallest number has no counterpart.
// palisade check --property no-overflow negated.c
// violation: `-x` is 9223372036854775808, more than `long` holds: 0 - (-9223372036854775808)
int main(void) {
    long x = -9223372036854775807 - 1;
    return -x > 0;
}
