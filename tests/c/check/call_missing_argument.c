// A missing argument may be anything, the others are what they are.
// palisade check --property unreach-call tests/c/check/call_missing_argument.c
// verdict: false(unreach-call)
extern void reach_error(void);
static int two(int a, int b) { if (a == 4 && b == 5) reach_error(); return a; }
struct table { int (*f)(int); };
static struct table table = {(int (*)(int))two};
int main(void) { return table.f(4); }
