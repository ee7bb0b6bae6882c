// A handler runs when its signal is raised, abort included.
// palisade check --property unreach-call tests/c/check/raised_signal.c
// verdict: false(unreach-call)
#include <signal.h>
#include <stdlib.h>
extern void reach_error(void);
static volatile sig_atomic_t flag;
static void note(int number) { flag += number; }
static void last(int number) { if (flag == SIGUSR1) reach_error(); }
int main(void) {
    struct sigaction action = {0};
    action.sa_handler = last;
    sigaction(SIGABRT, &action, 0);
    signal(SIGUSR1, note);
    raise(SIGUSR1);
    abort();
}
