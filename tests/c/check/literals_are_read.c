// Literals are read, and copies of them written.
// palisade check --property valid-memsafety tests/c/check/literals_are_read.c
// verdict: true
static const char digits[] = "0123456789";
static char last;
static void copy(char *to, const char *from) { while ((*to++ = *from++)) last = *from; }
int main(void) { char a[11]; copy(a, digits); a[1] = 'x'; copy(a, "abc"); return a[1]; }
