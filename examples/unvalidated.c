// On one way a value is consumed that nobody has validated: see validation.spc.
// palisade check --property examples/validation.spc examples/unvalidated.c
// verdict: false(validation)
extern int __VERIFIER_nondet_int(void);

// Stands for the C library's, with any input.
int scanf(const char *format, int *value) {
    *value = __VERIFIER_nondet_int();
    return 1;
}

static int total;

static int validate(int value) {
    return value >= 0 && value < 100;
}

static void consume(int value) {
    total += value;
}

int main(void) {
    int value;
    while (scanf("%d", &value) == 1) {
        if (value == 42 || validate(value))
            consume(value);
    }
    return total;
}
