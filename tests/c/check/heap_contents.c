// The violation needs certain contents of fresh heap memory; the replay must get them.
// palisade check tests/c/check/heap_contents.c
// verdict: false(unreach-call)
extern void *malloc(unsigned long);
extern void reach_error(void);

struct session {
    int state;
    void *certificate;
    long flags;
};

int main(void) {
    struct session *s = malloc(sizeof *s);
    s->state = 1;
    if (s->certificate == 0)
        return -1;
    if (s->flags == 12345)
        reach_error();
    return 0;
}
