// A library function writes through its argument.
// palisade check tests/c/check/scanf.c
// verdict: false(unreach-call)
extern int scanf(const char *, ...);
extern void reach_error(void);
int main(void) {
    int x = 0;
    scanf("%d", &x);
    if (x != 0) reach_error();
    return 0;
}
