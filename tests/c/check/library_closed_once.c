// A stream that is closed is no leak.
// palisade check --property valid-memsafety tests/c/check/library_closed_once.c
// verdict: true
struct _IO_FILE;
struct _IO_FILE *fopen(const char *, const char *);
int fclose(struct _IO_FILE *);
int main(void)
{
    struct _IO_FILE *f = fopen("x", "r");
    if (f != 0)
        fclose(f);
    return 0;
}
