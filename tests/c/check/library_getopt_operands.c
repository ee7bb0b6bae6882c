// `getopt` goes on behind operands and moves them to the end.
// palisade check tests/c/check/library_getopt_operands.c
// verdict: false(unreach-call)
#include <unistd.h>
extern void reach_error(void);

int main(void) {
    char *words[] = {"p", "operand", "-a", 0};
    int c = getopt(3, words, "a");
    if (c == 'a' && getopt(3, words, "a") == -1 && optind == 2 && words[1][0] == '-')
        reach_error();
    return 0;
}
