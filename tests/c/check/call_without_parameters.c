// A function without parameters is called through a pointer to one with a parameter.
// palisade check --property unreach-call tests/c/check/call_without_parameters.c
// verdict: false(unreach-call)
extern void reach_error(void);
void *start() { reach_error(); return 0; }
void call(void *(*f)(void *), void *a) { (*f)(a); }
int main(void) { call(&start, 0); return 0; }
