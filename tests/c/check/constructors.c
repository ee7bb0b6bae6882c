// Constructors run before main by priority, destructors after it in the opposite order.
// palisade check --property unreach-call tests/c/check/constructors.c
// verdict: true
extern void reach_error(void);
static int step;
__attribute__((constructor)) static void last(void) { if (step++ != 2) reach_error(); }
__attribute__((constructor(102))) static void second(void) { if (step++ != 1) reach_error(); }
__attribute__((constructor(101))) static void first(void) { if (step++ != 0) reach_error(); }
__attribute__((destructor(101))) static void end(void) { if (step++ != 5) reach_error(); }
__attribute__((destructor)) static void before(void) { if (step++ != 4) reach_error(); }
int main(void) { if (step++ != 3) reach_error(); return 0; }
