// Declared with another width than the library has: not followed, and not taken for somebody else's function either.
// palisade check --missing pure --property unreach-call tests/c/check/library_other_widths.c
// verdict: unknown
extern void reach_error(void);
int read(int descriptor, void *to, unsigned size);
char text[4] = "abc";
int main(void)
{
    read(0, text, 3);
    if (text[1] == 'z')
        reach_error();
    return 0;
}
