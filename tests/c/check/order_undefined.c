// Two changes of one variable without a sequence point: nothing can be said.
// palisade check --property unreach-call --time-limit 5s tests/c/check/order_undefined.c
// verdict: unknown
extern void reach_error(void);
int main(void) {
    int i = 1;
    i = i++ + i++;
    if (i == 77) reach_error();
    return 0;
}
