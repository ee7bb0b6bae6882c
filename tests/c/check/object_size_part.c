// Of parts of an object more or less is known: no run goes through the answer, and a proof holds for all.
// palisade check --property unreach-call tests/c/check/object_size_part.c
// verdict: unknown
extern void reach_error(void);
int main(void)
{
    char rows[3][5];
    if (__builtin_object_size(rows[1], 1) == 5)
        reach_error();
    return 0;
}
