// A state machine in heap objects that are made once: members become registers, predicates do the rest.
// palisade check tests/c/check/heap_machine.c
// verdict: true
extern void *malloc(unsigned long);
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

struct peer {
    int hit;
};
struct session {
    int state;
    struct peer *peer;
    int flag;
};

int main(void) {
    struct session *s = malloc(sizeof *s);
    s->peer = malloc(sizeof *s->peer);
    s->peer->hit = __VERIFIER_nondet_int();
    s->state = 10;
    s->flag = 0;
    for (;;) {
        if (s->state == 10)
            s->state = s->peer->hit ? 20 : 30;
        else if (s->state == 20) {
            s->state = 10;
            if (!s->peer->hit && s->flag == 1)
                reach_error();
        } else if (s->state == 30) {
            s->flag = 1;
            s->state = 10;
            if (s->peer->hit)
                reach_error();
        }
    }
}
