// Behind the end of an argument there is nothing.
// palisade check --property valid-deref tests/c/check/argv_overrun.c
// verdict: false(valid-deref)
int main(int argc, char **argv) {
    if (argc < 2 || argv[1][0] != '-')
        return 0;
    return argv[1][2];
}
