// The rest of the time is told to who is woken up early, which differs from what stood there.
// palisade check --property unreach-call tests/c/check/library_nanosleep_rest.c
// verdict: false(unreach-call)
#define _GNU_SOURCE
#include <time.h>
extern void reach_error(void);
int main(void)
{
    struct timespec time = {0, 1}, rest = {9, 9};
    if (nanosleep(&time, &rest) == -1 && rest.tv_sec != 9)
        reach_error();
    return 0;
}
