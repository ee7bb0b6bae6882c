// Pointers into different objects are different.
// palisade check --property unreach-call tests/c/check/inside_objects.c
// verdict: true
#include <stdlib.h>
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
struct node { struct node *next; int value; };
int a[4], b[4];
int main(void) {
    int i = __VERIFIER_nondet_int() & 3, j = __VERIFIER_nondet_int() & 3;
    if (&a[i] == &b[j]) reach_error();
    struct node *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    first->next = second;
    second->next = first;
    if (first->next == second->next) reach_error();
    return 0;
}
