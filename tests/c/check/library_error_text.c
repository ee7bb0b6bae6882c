// What `error` prints must have an end.
// palisade check --property valid-memsafety tests/c/check/library_error_text.c
// verdict: false(valid-deref)
#include <error.h>
int main(void)
{
    char text[3] = {'a', 'b', 'c'};
    error(1, 0, "%s", text);
}
