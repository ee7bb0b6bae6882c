// A mean of nothing.
// palisade check --property def-behavior division.c
// violation: division by zero in `sum / n`
int main(void) {
    int sum = 3, n = 0;
    return sum / n;
}
