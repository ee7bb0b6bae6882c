// The value is read after the node is gone.
// palisade check --property valid-memsafety use_after_free.c
// violation: read of 4 bytes of heap#1 (16 bytes, allocated at use_after_free.c:10), freed at use_after_free.c:12: `n->value`
#include <stdlib.h>
struct node {
    struct node *next;
    int value;
};
int main(void) {
    struct node *n = calloc(1, sizeof *n);
    n->value = 3;
    free(n);
    return n->value;
}
