// Setting bytes in the middle of a variable changes the variable.
// palisade check --property unreach-call tests/c/check/memset_into_scalar.c
// verdict: false(unreach-call)
extern void *memset(void *, int, unsigned long);
extern void reach_error(void);
int main(void) {
    int x = 0;
    memset((char *)&x + 2, 255, 2);
    if (x == (int)0xffff0000)
        reach_error();
    return 0;
}
