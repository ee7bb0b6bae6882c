// Long options are compared with the words that are given, and may be shortened.
// palisade check tests/c/check/library_getopt_long.c
// verdict: true
#define _GNU_SOURCE
#include <getopt.h>
extern void reach_error(void);

int main(void) {
    char *words[] = {"p", "--beta=7", "--al", 0};
    struct option table[] = {{"alpha", 0, 0, 'a'}, {"beta", 1, 0, 'b'}, {0, 0, 0, 0}};
    if (getopt_long(3, words, "", table, 0) != 'b' || optarg[0] != '7')
        reach_error();
    if (getopt_long(3, words, "", table, 0) != 'a' || getopt_long(3, words, "", table, 0) != -1)
        reach_error();
    return 0;
}
