// Descriptors are given in order until one is closed; then a lower one may come again.
// palisade check tests/c/check/library_descriptors.c
// verdict: unknown
#include <fcntl.h>
#include <unistd.h>
extern void reach_error(void);

int main(void) {
    close(0);
    if (open("/dev/null", O_RDONLY) == 0)
        reach_error();
    return 0;
}
