// Characters of standard input are inputs.
// palisade check --property unreach-call tests/c/check/library_getchar.c
// verdict: false(unreach-call)
extern void reach_error(void);
int getchar(void);
int main(void)
{
    if (getchar() == 'a' && getchar() == 'b' && getchar() == -1)
        reach_error();
    return 0;
}
