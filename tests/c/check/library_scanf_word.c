// A word may be longer than the array.
// palisade check --property valid-memsafety tests/c/check/library_scanf_word.c
// verdict: false(valid-deref)
int scanf(const char *, ...);
int main(void)
{
    char word[4];
    scanf("%s", word);
    return 0;
}
