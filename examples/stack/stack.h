// A stack of at most CAPACITY numbers.
#define CAPACITY 8

struct stack {
    int size;
    int items[CAPACITY];
};

void clear(struct stack *s);
int push(struct stack *s, int item);
int pop(struct stack *s, int *item);
