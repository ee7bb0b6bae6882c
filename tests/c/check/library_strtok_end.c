// After the last token `strtok_r` leaves a pointer to the end of the string.
// palisade check tests/c/check/library_strtok_end.c
// verdict: false(unreach-call)
#include <string.h>
extern void reach_error(void);

int main(void) {
    char text[] = "a";
    char *rest = 0;
    strtok_r(text, ",", &rest);
    if (rest == text + 1)
        reach_error();
    return 0;
}
