// `poll` and `select` tell what happened of what is asked about, and change nothing else.
// palisade check --property unreach-call tests/c/check/library_poll.c
// verdict: true
#include <poll.h>
#include <sys/select.h>
extern void reach_error(void);
int main(void)
{
    struct pollfd one = {0, POLLIN, 0};
    if (poll(&one, 1, 0) == 0 && one.revents != 0 || one.fd != 0 || one.events != POLLIN)
        reach_error();
    fd_set set = {0};
    FD_SET(3, &set);
    struct timeval time = {0, 0};
    if (select(4, &set, 0, 0, &time) == 0 && FD_ISSET(3, &set) || FD_ISSET(2, &set))
        reach_error();
    return 0;
}
