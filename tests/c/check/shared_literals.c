// Equal string literals may be one object.
// palisade check --property unreach-call --time-limit 5s tests/c/check/shared_literals.c
// verdict: unknown
extern void reach_error(void);
static const char *f(void) { return "xyz"; }
static const char *g(void) { return "xyz"; }
int main(void) { const char *a = f(), *b = g(); if (a == b) reach_error(); return 0; }
