// A call through a pointer passes a pointer as an integer, and takes an integer as a pointer.
// palisade check --property unreach-call tests/c/check/argument_of_another_type.c
// verdict: true
extern void reach_error(void);

static unsigned long same(unsigned long address) {
    return address;
}

int main(void) {
    int x = 5;
    int *(*f)(int *) = (int *(*)(int *))same;
    int *p = f(&x);
    *p = 6;
    if (x != 6) {
        reach_error();
    }
    return 0;
}
