// true: The server's side, with a bounded number of renegotiations and of warnings in each.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int state = 8464, rounds = 0, warnings = 0, failed = 0;
    while (!failed) {
        int message = __VERIFIER_nondet_int();
        if (message == -1) {
            warnings++;
            if (warnings > 4)
                failed = 1;
        } else if (state == 8464) {
            warnings = 0;
            if (rounds >= 20)
                failed = 1;
            else
                state = 8480;
        } else if (state == 8480) {
            rounds++;
            state = message == 1 ? 8496 : 8512;
        } else if (state == 8496) {
            state = 8512;
        } else if (state == 8512) {
            if (rounds < 1)
                reach_error();
            state = message == 2 ? 8464 : 8496;
        } else {
            reach_error();
        }
        if (rounds > 20 || warnings > 5)
            reach_error();
        if (warnings == 5 && !failed)
            reach_error();
    }
    return 0;
}
