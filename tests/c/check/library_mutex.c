// A mutex that is held is not taken again.
// palisade check tests/c/check/library_mutex.c
// verdict: true
#include <pthread.h>
extern void reach_error(void);

int main(void) {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_mutex_trylock(&m) != 0)
        reach_error();
    pthread_mutex_lock(&m);
    reach_error();
    return 0;
}
