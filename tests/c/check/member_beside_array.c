// A member beside an array whose index is checked: what is written to the array leaves the member alone.
// palisade check --property valid-memsafety --analysis interval tests/c/check/member_beside_array.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
struct stack {
    int size;
    int items[8];
};

static void push(struct stack *s, int item) {
    if (s->size < 8)
        s->items[s->size++] = item;
}

static int pop(struct stack *s) {
    return s->size > 0 ? s->items[--s->size] : 0;
}

int main(void) {
    struct stack s;
    s.size = 0;
    while (__VERIFIER_nondet_int()) {
        if (__VERIFIER_nondet_int())
            push(&s, 100);
        else
            pop(&s);
    }
    return 0;
}
