// A search ends at the sentinel, whatever comes before it.
// palisade check --analysis arrays --time-limit 60s tests/c/check/array_sentinel.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int values[2000];
    int wanted = __VERIFIER_nondet_int(), place = __VERIFIER_nondet_int();
    for (int i = 0; i < 2000; i++)
        values[i] = __VERIFIER_nondet_int();
    if (place < 0 || place >= 2000)
        return 0;
    values[place] = wanted;
    int at = 0;
    while (values[at] != wanted)
        at++;
    if (at > place)
        reach_error();
    return 0;
}
