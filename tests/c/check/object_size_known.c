// The compiler may know the size of an object.
// palisade check --property unreach-call tests/c/check/object_size_known.c
// verdict: false(unreach-call)
extern void reach_error(void);
int main(void) {
    struct { char head[4]; char tail[6]; } s;
    if (__builtin_object_size(s.tail, 0) == 6)
        reach_error();
    return 0;
}
