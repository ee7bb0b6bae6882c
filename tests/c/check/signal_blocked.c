// A signal that is blocked waits until it is not.
// palisade check tests/c/check/signal_blocked.c
// verdict: true
#include <signal.h>
extern void reach_error(void);

static int seen;
static void handler(int number) { seen = number; }

int main(void) {
    sigset_t set;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    raise(SIGUSR1);
    if (seen)
        reach_error();
    sigprocmask(SIG_UNBLOCK, &set, 0);
    if (seen != SIGUSR1)
        reach_error();
    return 0;
}
