// Each function calls the next one twice: a thousand calls, which contracts of eleven functions take the place of.
// palisade check --analysis summaries tests/c/check/calls_multiply.c
// verdict: true
extern void __assert_fail(const char *, const char *, unsigned, const char *);
int __VERIFIER_nondet_int(void);

static int f0(int x) {
    if (x < 100) return x + 1;
    return x;
}
static int f1(int x) {
    int y = f0(x);
    return f0(y);
}
static int f2(int x) {
    int y = f1(x);
    return f1(y);
}
static int f3(int x) {
    int y = f2(x);
    return f2(y);
}
static int f4(int x) {
    int y = f3(x);
    return f3(y);
}
static int f5(int x) {
    int y = f4(x);
    return f4(y);
}
static int f6(int x) {
    int y = f5(x);
    return f5(y);
}
static int f7(int x) {
    int y = f6(x);
    return f6(y);
}
static int f8(int x) {
    int y = f7(x);
    return f7(y);
}
static int f9(int x) {
    int y = f8(x);
    return f8(y);
}
static int f10(int x) {
    int y = f9(x);
    return f9(y);
}

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x < 0 || x > 50) return 0;
    int y = f10(x);
    if (y > 100) __assert_fail("y <= 100", "calls_multiply.c", 44, "main");
    return 0;
}
