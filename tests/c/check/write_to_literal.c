// A string literal cannot be written.
// palisade check --property valid-memsafety tests/c/check/write_to_literal.c
// verdict: false(valid-deref)
static void set(char *s) { s[0] = 'x'; }
int main(void) { char a[] = "abc"; set(a); set("abc"); return 0; }
