// A lock protocol: acquired and released in turn, whatever the input says.
// palisade check examples/lock.c
// verdict: true
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int locked = 0;

static void lock(void) {
    assert(!locked);
    locked = 1;
}

static void unlock(void) {
    assert(locked);
    locked = 0;
}

int main(void) {
    int requests = 0, served = 0;
    do {
        lock();
        served = requests;
        if (__VERIFIER_nondet_int()) {
            unlock();
            requests++;
        }
    } while (requests != served);
    unlock();
    return 0;
}
