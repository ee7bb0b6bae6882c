// The last six characters of a template change, not the first.
// palisade check tests/c/check/library_mkstemp.c
// verdict: true
#include <stdlib.h>
extern void reach_error(void);

int main(void) {
    char template[] = "/tmp/abXXXXXX";
    if (mkstemp(template) >= 0 && template[5] != 'a')
        reach_error();
    return 0;
}
