// Functions that are given the address of a struct: its members become registers, although accesses are checked.
// palisade check --property valid-memsafety --analysis interval tests/c/check/stack_by_pointer.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
struct counter {
    int level;
    int limit;
};
static int table[9];

static void up(struct counter *c) {
    if (c->level == c->limit)
        return;
    c->level++;
}

static void down(struct counter *c) {
    if (c->level == 0)
        return;
    c->level--;
}

static void note(int *of, struct counter *c) {
    of[c->level] = 1;
}

int main(void) {
    struct counter c = {0, 8};
    while (__VERIFIER_nondet_int()) {
        if (__VERIFIER_nondet_int())
            up(&c);
        else
            down(&c);
        note(table, &c);
    }
    return 0;
}
