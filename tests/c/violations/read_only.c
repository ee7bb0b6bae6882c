// A string literal is changed.
// palisade check --property def-behavior read_only.c
// violation: write to the string "abc", which cannot be changed: `*s = 'x'`
int main(void) {
    char *s = "abc";
    *s = 'x';
    return 0;
}
