// It knows the right size or nothing.
// palisade check --property unreach-call tests/c/check/object_size_other.c
// verdict: true
extern void reach_error(void);
int main(void) {
    char buffer[10];
    unsigned long n = __builtin_object_size(buffer + 1, 0), m = __builtin_object_size(&buffer[2], 2);
    if (n != 9 && n != -1ul || m != 8 && m != 0)
        reach_error();
    return 0;
}
