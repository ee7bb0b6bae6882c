// A ring buffer gives back what was put in, in order.
// palisade check examples/ring_buffer.c
// verdict: true
#include <assert.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

#define SIZE 4
static unsigned char slots[SIZE];
static unsigned head, count;

static int put(unsigned char value) {
    if (count == SIZE)
        return 0;
    slots[(head + count) % SIZE] = value;
    count++;
    return 1;
}

static int get(unsigned char *value) {
    if (count == 0)
        return 0;
    *value = slots[head];
    head = (head + 1) % SIZE;
    count--;
    return 1;
}

int main(void) {
    unsigned char a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar(), out;
    head = __VERIFIER_nondet_uchar() % SIZE;
    assert(put(a) && put(b));
    assert(get(&out) && out == a);
    assert(get(&out) && out == b);
    assert(!get(&out));
    return 0;
}
