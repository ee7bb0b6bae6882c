// Example 9 of "Combining Model Checking and Data-Flow Analysis": a doubly linked list of five elements.
// palisade check --analysis location+heap examples/cpa/list.c
// verdict: true
#include <assert.h>
#include <stdlib.h>

struct elem {
    int data;
    struct elem *succ, *prev;
};

static struct elem *push(struct elem *list) {
    struct elem *e = malloc(sizeof *e);
    if (!e)
        exit(1);
    e->succ = list;
    e->prev = NULL;
    if (list)
        list->prev = e;
    return e;
}

int main(void) {
    struct elem *l1 = NULL;
    l1 = push(l1);
    l1 = push(l1);
    l1 = push(l1);
    l1 = push(l1);
    l1 = push(l1);
    assert(l1->succ->succ->prev == l1->succ);
}
