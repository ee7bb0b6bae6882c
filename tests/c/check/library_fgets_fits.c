// What fgets stores fits the size it is told, and ends.
// palisade check --property valid-memsafety tests/c/check/library_fgets_fits.c
// verdict: true
struct _IO_FILE;
extern struct _IO_FILE *stdin;
char *fgets(char *, int, struct _IO_FILE *);
int main(void)
{
    char line[4];
    int n = 0;
    if (fgets(line, 4, stdin) == 0)
        return 0;
    while (line[n] != 0)
        n++;
    return 0;
}
