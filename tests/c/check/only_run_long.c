// A program without inputs has one run. This one takes thirty billion passes that all do the same.
// palisade check --property unreach-call tests/c/check/only_run_long.c
// verdict: true
extern void reach_error(void);

static long passes;
static unsigned char mark[100];

int main(void) {
    unsigned sum = 0;
    for (long i = 0; i < 30000000000; i++) {
        passes++;
        sum += 3;
        mark[7] = 1;
    }
    if (passes != 30000000000 || sum != 90000000000u % 4294967296u || mark[7] != 1 || mark[8] != 0)
        reach_error();
    return 0;
}
