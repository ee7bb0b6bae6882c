// A function of the library that is called without a declaration does what it does.
// palisade check --property valid-memcleanup tests/c/check/undeclared_library.c
// verdict: false(valid-memcleanup)
int main(int argc, char **argv) {
    char *text;
    if (asprintf(&text, "%d", argc) < 0)
        return 1;
    return 0;
}
