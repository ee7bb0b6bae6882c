// Which element is assigned to depends on when the index is read.
// palisade check --property unreach-call tests/c/check/order_of_index.c
// verdict: false(unreach-call)
extern void reach_error(void);
static int i, a[2];
static int step(void) { i = 1; return 9; }
int main(void) {
    a[i] = step();
    if (a[0] == 9) reach_error();
    return 0;
}
