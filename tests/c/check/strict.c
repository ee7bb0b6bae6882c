// Nobody knows what a function without a body does, so that strictly nothing is proved.
// palisade check --strict tests/c/check/strict.c
// verdict: unknown
extern int measure(void);

int main(void) {
    int x = measure();
    return x > 0 ? 0 : 1;
}
