// true: Brackets of an address are counted; the result is only used when all are closed.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int depth = 0, error = 0, open = 0, closed = 0;
    while (!error && __VERIFIER_nondet_int()) {
        int c = __VERIFIER_nondet_int();
        if (c == '<') {
            if (depth >= 8) {
                error = 1;
            } else {
                depth++;
                open++;
            }
        } else if (c == '>') {
            if (depth == 0) {
                error = 2;
            } else {
                depth--;
                closed++;
            }
        }
        if (open > 1000)
            error = 3;
    }
    if (error == 0 && depth == 0) {
        if (open != closed)
            reach_error();
    }
    return 0;
}
