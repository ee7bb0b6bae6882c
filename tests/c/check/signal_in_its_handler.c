// A signal that is raised in its handler is handled when the handler has returned.
// palisade check tests/c/check/signal_in_its_handler.c
// verdict: true
#include <signal.h>
extern void reach_error(void);

static int depth, calls;
static void handler(int number) {
    if (++depth > 1)
        reach_error();
    if (++calls < 3)
        raise(number);
    depth--;
}

int main(void) {
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (calls != 3)
        reach_error();
    return 0;
}
