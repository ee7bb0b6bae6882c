// Threads are not in the automaton, so no verdict may be given.
// palisade check tests/c/check/threads.c
// verdict: unknown
typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern void reach_error(void);
int shared;
void *worker(void *arg) { shared = 1; return arg; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    if (shared) reach_error();
    return 0;
}
