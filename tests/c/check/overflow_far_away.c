// A sum of lengths overflows where one is that of a text of two billion characters: as many passes that do the same.
// palisade check --property no-overflow tests/c/check/overflow_far_away.c
// verdict: false(no-overflow)
extern void *malloc(unsigned long);
extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);

/* A text of any length that is left to right what nobody knows; its length, or -1. */
static int message(char **text) {
    int room = __VERIFIER_nondet_int();
    if (room <= 0)
        return -1;
    *text = malloc(room);
    for (int i = 0; i < room; i++) {
        (*text)[i] = __VERIFIER_nondet_char();
        if ((*text)[i] == 0)
            return i;
    }
    return -1;
}

int main(void) {
    char *text;
    int used = message(&text);
    if (used < 0)
        return 1;
    int prefix = 4;
    return prefix + used > 0;
}
