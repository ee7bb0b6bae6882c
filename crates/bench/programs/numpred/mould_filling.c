// true: A mould is filled in two speeds; the gate is closed before it is full.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int level = 0, gate = 0, fast = 0;
    while (__VERIFIER_nondet_int()) {
        if (gate) {
            if (fast)
                level += 5;
            else
                level += 1;
        }
        if (level > 100)
            reach_error();
        if (!gate) {
            if (__VERIFIER_nondet_int() && level < 80) {
                gate = 1;
                fast = 1;
            } else if (__VERIFIER_nondet_int()) {
                level = 0;
            }
        } else if (level >= 80) {
            fast = 0;
            if (level >= 95)
                gate = 0;
        }
        if (fast && !gate)
            reach_error();
    }
    return 0;
}
