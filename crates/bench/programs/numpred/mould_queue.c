// true: Moulds wait in a ring of sixteen places.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int head = 0, tail = 0, count = 0, full = 0;
    while (__VERIFIER_nondet_int()) {
        if (__VERIFIER_nondet_int()) {
            if (!full) {
                if (tail < 0 || tail >= 16)
                    reach_error();
                tail = tail == 15 ? 0 : tail + 1;
                count++;
                full = count == 16;
            }
        } else if (count > 0) {
            if (head < 0 || head >= 16)
                reach_error();
            head = head == 15 ? 0 : head + 1;
            count--;
            full = 0;
        }
        if (count > 16 || (full && count != 16))
            reach_error();
    }
    return 0;
}
