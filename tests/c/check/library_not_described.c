// A function of the library that is not described may do anything: nothing is claimed.
// palisade check --property valid-memsafety tests/c/check/library_not_described.c
// verdict: unknown
#include <arpa/inet.h>

int main(void) {
    struct in_addr address = {0};
    char text[4];
    inet_ntop(AF_INET, &address, text, 100);
    return 0;
}
