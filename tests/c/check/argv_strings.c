// A null pointer follows the arguments.
// palisade check tests/c/check/argv_strings.c
// verdict: true
extern void reach_error(void);

int main(int argc, char **argv) {
    if (argv[argc] != 0)
        reach_error();
    return 0;
}
