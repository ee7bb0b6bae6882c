// A global that nobody defines may have any value, which no step of the program chooses.
// palisade check --property unreach-call tests/c/check/extern_global.c
// verdict: false(unreach-call)
extern void reach_error(void);
extern int limit;

int main(void) {
    if (limit != 7) {
        reach_error();
    }
    return 0;
}
