// The environment is up to whoever starts the program, and may be empty.
// palisade check tests/c/check/envp.c
// verdict: false(unreach-call)
extern void reach_error(void);

int main(int argc, char **argv, char **envp) {
    if (envp[0] != 0 && envp[0][0] == 'P')
        reach_error();
    return 0;
}
