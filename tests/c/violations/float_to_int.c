// Too large for an `int`.
// palisade check --property def-behavior float_to_int.c
// violation: 1e20 does not fit the integer type it is converted to
int main(void) {
    double d = 1e20;
    return (int)d;
}
