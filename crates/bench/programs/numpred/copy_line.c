// true: A line is copied into a buffer; what does not fit is dropped, and there is room for the end mark.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

char line[64];

int main(void) {
    int i = 0, dropped = 0;
    int c = __VERIFIER_nondet_int();
    while (c != '\n' && c != 0) {
        if (i < 63) {
            line[i] = (char)c;
            i++;
        } else {
            dropped = 1;
        }
        c = __VERIFIER_nondet_int();
    }
    if (i < 0 || i >= 64)
        reach_error();
    line[i] = 0;
    if (dropped && i != 63)
        reach_error();
    return 0;
}
