// Declared with other signs than the library has, as GNU headers do with enumerations: the same function.
// palisade check --property unreach-call tests/c/check/library_other_signs.c
// verdict: false(unreach-call)
extern void reach_error(void);
typedef void (*handler)(int);
handler signal(unsigned number, handler handler);
int raise(unsigned number);
static void caught(int number) { reach_error(); }
int main(void)
{
    signal(10, caught);
    raise(10);
    return 0;
}
