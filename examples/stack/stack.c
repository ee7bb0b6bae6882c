#include "stack.h"

void clear(struct stack *s) {
    s->size = 0;
}

int push(struct stack *s, int item) {
    if (s->size == CAPACITY)
        return 0;
    s->items[s->size++] = item;
    return 1;
}

int pop(struct stack *s, int *item) {
    if (s->size == 0)
        return 0;
    *item = s->items[--s->size];
    return 1;
}
