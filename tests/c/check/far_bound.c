// A number of objects that may be small or very large, and an index into a word: the short run goes wrong.
// palisade check --analysis concrete --time-limit 6s --property valid-deref tests/c/check/far_bound.c
// verdict: false(valid-deref)
extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern void __VERIFIER_assume(int);
void *malloc(unsigned long);
unsigned long strlen(const char *);

static char *argument;

static int option(int count, char **words, int at, const char *letters) {
    if (at >= count || words[at][0] != '-')
        return -1;
    unsigned long which = __VERIFIER_nondet_ulong();
    __VERIFIER_assume(which < strlen(letters) && letters[which] != ':');
    if (letters[which + 1] == ':')
        argument = __VERIFIER_nondet_int() ? words[at] : 0;
    return letters[which];
}

int main(void) {
    int count = __VERIFIER_nondet_int();
    __VERIFIER_assume(count >= 1 && count <= 10000);
    char **words = malloc((count + 1) * sizeof(char *));
    words[count] = 0;
    for (int i = 0; i < count; ++i) {
        words[i] = malloc(11);
        words[i][10] = 0;
        for (int j = 0; j < 10; ++j)
            words[i][j] = __VERIFIER_nondet_char();
    }
    for (;;) {
        int c = option(count, words, 1, "n:c:qv");
        if (c == -1)
            break;
        if (c == 'n' || c == 'c')
            return *argument;
    }
    return 0;
}
