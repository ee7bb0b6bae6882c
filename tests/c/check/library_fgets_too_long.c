// Input lines may be longer than the buffer.
// palisade check --property valid-memsafety tests/c/check/library_fgets_too_long.c
// verdict: false(valid-deref)
struct _IO_FILE;
extern struct _IO_FILE *stdin;
char *fgets(char *, int, struct _IO_FILE *);
int main(void)
{
    char line[4];
    fgets(line, 16, stdin);
    return 0;
}
