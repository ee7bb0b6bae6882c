// Where a stream stands is not kept count of, so nothing is said about it.
// palisade check --property unreach-call tests/c/check/library_file_place.c
// verdict: unknown
#include <stdio.h>
extern void reach_error(void);
int main(void)
{
    FILE *file = tmpfile();
    if (file == 0)
        return 0;
    if (fputs("abc", file) >= 0 && ftell(file) == 2)
        reach_error();
    fclose(file);
    return 0;
}
