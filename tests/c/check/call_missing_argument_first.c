// The arguments that are there arrive.
// palisade check --property unreach-call tests/c/check/call_missing_argument_first.c
// verdict: true
extern void reach_error(void);
static int two(int a, int b) { if (a != 4) reach_error(); return a; }
static long none(void) { return -1; }
int main(void) {
    int (*f)(int) = (int (*)(int))two;
    int (*g)(int, char) = (int (*)(int, char))none;
    if (f(4) != 4 || g(1, 2) != -1)
        reach_error();
    return 0;
}
