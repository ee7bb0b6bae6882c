// What an external function returns, and what new memory holds, is anything.
// palisade check --analysis concrete --time-limit 20s tests/c/check/concrete_unknown_values.c
// verdict: false(unreach-call)
extern void *malloc(unsigned long);
extern int elsewhere(void);
void reach_error(void);

int main(void) {
    unsigned char *p = malloc(4);
    if (elsewhere() == 77 && p[1] > p[2])
        reach_error();
    return 0;
}
