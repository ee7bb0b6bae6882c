// A pointer that nobody changes leads to where it led at the start: what is written there is known.
// palisade check --property no-overflow --analysis interval tests/c/check/pointer_from_start.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
void *malloc(unsigned long);
void free(void *);

static int error_location;
static int *const error = &error_location;

static long put(long bytes) {
    long done;
    do
        done = __VERIFIER_nondet_int();
    while (done < 0 && *error == 4);
    return done < bytes ? done : bytes;
}

int main(void) {
    error_location = __VERIFIER_nondet_int();
    char *buffer = malloc(100), *out = buffer;
    while (__VERIFIER_nondet_int())
        *out++ = (char)__VERIFIER_nondet_int();
    *error = 0;
    put(100);
    free(buffer);
    if (*error != 0) {
        int x = __VERIFIER_nondet_int();
        return x + 1;
    }
    return 0;
}
