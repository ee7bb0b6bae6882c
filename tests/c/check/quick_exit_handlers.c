// quick_exit runs what was registered for it and nothing else.
// palisade check --property unreach-call tests/c/check/quick_exit_handlers.c
// verdict: true
#include <stdlib.h>
extern void reach_error(void);
static int x;
static void quick(void) { x++; }
static void last(void) { if (x != 0) reach_error(); }
static void never(void) { reach_error(); }
int main(void) { atexit(never); at_quick_exit(quick); at_quick_exit(last); quick_exit(0); }
