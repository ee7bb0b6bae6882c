// An ignored signal does nothing, the default of most is the end.
// palisade check --property unreach-call tests/c/check/ignored_signal.c
// verdict: true
#include <signal.h>
extern void reach_error(void);
static int x;
static void note(int number) { x = 1; }
int main(void) {
    signal(SIGTERM, note);
    if (signal(SIGTERM, SIG_IGN) != note || raise(SIGTERM) != 0 || x != 0)
        reach_error();
    raise(SIGINT);
    reach_error();
}
