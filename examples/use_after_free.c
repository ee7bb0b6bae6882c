// The list is freed while it is walked: the next pointer is read from a dead node.
// palisade check --property valid-memsafety examples/use_after_free.c
// verdict: false(valid-deref)
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node *list = NULL;
    for (int i = 0; i < 3; i++) {
        struct node *n = malloc(sizeof *n);
        n->value = i;
        n->next = list;
        list = n;
    }
    for (struct node *n = list; n != NULL; n = n->next)
        free(n);
    return 0;
}
