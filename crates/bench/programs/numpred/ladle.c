// true: The ladle tilts only above a mould, and is upright when the crane moves.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int angle = 0, moving = 0, above = 0;
    while (__VERIFIER_nondet_int()) {
        int command = __VERIFIER_nondet_int();
        if (command == 1 && !moving && above && angle < 90) {
            angle = angle + 10;
        } else if (command == 2 && angle > 0) {
            angle = angle - 10;
        } else if (command == 3 && angle == 0) {
            moving = 1;
            above = 0;
        } else if (command == 4 && moving) {
            moving = 0;
            above = __VERIFIER_nondet_int() != 0;
        }
        if (moving && angle != 0)
            reach_error();
        if (angle < 0 || angle > 95)
            reach_error();
    }
    return 0;
}
