// true: A driver takes its lock around its list of requests, and lets it go on every way out.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int locked;

void acquire(void) {
    if (locked)
        reach_error();
    locked = 1;
}

void release(void) {
    if (!locked)
        reach_error();
    locked = 0;
}

int main(void) {
    int pending = 0, old;
    do {
        acquire();
        old = pending;
        int request = __VERIFIER_nondet_int();
        if (request > 0 && pending < 1000) {
            release();
            pending++;
            if (request > 100) {
                acquire();
                release();
            }
        }
    } while (pending != old);
    release();
    if (pending < 0 || pending > 1000)
        reach_error();
    return 0;
}
