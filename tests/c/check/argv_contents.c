// What the arguments say is up to whoever starts the program.
// palisade check tests/c/check/argv_contents.c
// verdict: false(unreach-call)
extern void reach_error(void);

int main(int argc, char **argv) {
    if (argc == 2 && argv[1][0] == '-' && argv[1][1] == 'x' && argv[1][2] == 0)
        reach_error();
    return 0;
}
