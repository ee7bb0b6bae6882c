// The life of an array of variable length ends with its block, in every pass.
// palisade check --analysis bmc --property valid-memsafety tests/c/check/vla_in_loops.c
// verdict: true
static int filled(int n) {
    int sum = 0;
    for (int i = 1; i <= n; i++) {
        char a[i];
        a[i - 1] = i;
        sum += a[i - 1];
    }
    return sum;
}
int main(void) {
    return filled(3);
}
