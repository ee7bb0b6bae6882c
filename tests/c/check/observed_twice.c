// Two observers at once: the verdict names the one in an error state; calls through a pointer count.
// palisade check --property tests/c/check/precondition.spc tests/c/check/observed_twice.c
// verdict: false(once)
static int foo(int x, int y) {
    return x - y;
}

int main(void) {
    int (*f)(int, int) = foo;
    return f(1, -1) - f(2, -2);
}
