// The rest of the time is told to who is woken up early, and to nobody else.
// palisade check --property unreach-call tests/c/check/library_nanosleep.c
// verdict: true
#define _GNU_SOURCE
#include <time.h>
extern void reach_error(void);
int main(void)
{
    struct timespec time = {0, 1}, rest = {9, 9};
    if (nanosleep(&time, &rest) == 0 && rest.tv_sec != 9)
        reach_error();
    return 0;
}
