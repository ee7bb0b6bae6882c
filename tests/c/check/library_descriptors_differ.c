// Two open files have two descriptors, and none of them is a standard one.
// palisade check tests/c/check/library_descriptors_differ.c
// verdict: true
#include <fcntl.h>
extern void reach_error(void);

int main(void) {
    int a = open("/dev/null", O_RDONLY), b = open("/dev/zero", O_RDONLY);
    if (a >= 0 && b >= 0 && (a == b || a < 3 || b < 3))
        reach_error();
    return 0;
}
