// The members that are copied share seven bytes.
// palisade check tests/c/check/overlap_in_union.c --property def-behavior
// verdict: false(def-behavior)
#include <string.h>
struct bytes {
    char x[8];
};
struct later {
    char pad;
    struct bytes bytes;
};
union both {
    struct later later;
    struct bytes first;
};
int main(void) {
    union both u = {0};
    memcpy(&u.first, &u.later.bytes, sizeof u.first);
    return 0;
}
