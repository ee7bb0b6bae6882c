// A destructor runs at exit, after what was registered.
// palisade check --property unreach-call tests/c/check/destructor_at_exit.c
// verdict: false(unreach-call)
#include <stdlib.h>
extern void reach_error(void);
static int x;
static void told(int status, void *to) { if (status == 3) *(int *)to = 7; }
extern int on_exit(void (*)(int, void *), void *);
__attribute__((destructor)) static void end(void) { if (x == 7) reach_error(); }
int main(void) { on_exit(told, &x); exit(3); }
