// A program of two files: what is pushed and popped, in any order, stays inside of the stack.
//
// palisade check --property valid-memsafety examples/stack/main.c examples/stack/stack.c
#include "stack.h"

extern int __VERIFIER_nondet_int(void);

int main(void) {
    struct stack s;
    int item;
    clear(&s);
    while (__VERIFIER_nondet_int()) {
        if (__VERIFIER_nondet_int())
            push(&s, 1);
        else
            pop(&s, &item);
    }
    return 0;
}
