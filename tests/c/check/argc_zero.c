// C does not promise that the program's name is among the arguments (C11 5.1.2.2.1).
// palisade check --property valid-deref tests/c/check/argc_zero.c
// verdict: false(valid-deref)
int main(int argc, char **argv) {
    return argv[0][0];
}
