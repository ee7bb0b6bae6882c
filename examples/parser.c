// A number parser that forgets that its buffer is four bytes long.
// palisade check --property valid-memsafety examples/parser.c
// verdict: false(valid-deref)
extern char __VERIFIER_nondet_char(void);

static int parse(const char *text) {
    int value = 0;
    while (*text >= '0' && *text <= '9')
        value = (value * 10 + (*text++ - '0')) % 1000;
    return value;
}

int main(void) {
    char buffer[4];
    for (int i = 0; i < 4; i++)
        buffer[i] = __VERIFIER_nondet_char();
    return parse(buffer) < 0;
}
