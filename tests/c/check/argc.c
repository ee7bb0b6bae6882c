// A program may be started with any number of arguments.
// palisade check tests/c/check/argc.c
// verdict: false(unreach-call)
extern void reach_error(void);

int main(int argc, char **argv) {
    if (argc == 5)
        reach_error();
    return 0;
}
