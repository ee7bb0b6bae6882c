// The sum of two numbers that fit.
// palisade check --property no-overflow overflow.c
// violation: `a + b` is 2147483648, more than `int` holds: 2147483647 + 1
int main(void) {
    int a = 2147483647, b = 1;
    return a + b > 0;
}
