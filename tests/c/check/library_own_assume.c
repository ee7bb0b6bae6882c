// A function called assume is nobody in particular.
// palisade check --property unreach-call tests/c/check/library_own_assume.c
// verdict: false(unreach-call)
extern void reach_error(void);
void assume(int);
int main(void)
{
    assume(0);
    reach_error();
    return 0;
}
