// What a constructor does is done when main starts.
// palisade check --property unreach-call tests/c/check/constructor_runs.c
// verdict: false(unreach-call)
extern void reach_error(void);
static int x;
__attribute__((__constructor__)) static void init(void) { x = 1; }
int main(void) { if (x == 1) reach_error(); return 0; }
