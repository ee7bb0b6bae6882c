// true: Pieces on a belt: a piece enters only if there is room, and leaves only if there is one.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int pieces = 0, blocked = 0, entered = 0, left = 0;
    while (entered < 10000 && __VERIFIER_nondet_int()) {
        int sensor = __VERIFIER_nondet_int();
        if (!blocked && sensor == 1) {
            pieces++;
            entered++;
            if (pieces == 12)
                blocked = 1;
        } else if (sensor == 2 && pieces > 0) {
            pieces--;
            left++;
            blocked = 0;
        }
        if (pieces < 0 || pieces > 12)
            reach_error();
        if (entered - left != pieces)
            reach_error();
    }
    return 0;
}
