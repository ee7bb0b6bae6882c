// true: An alarm stays until it is acknowledged, and is raised after three bad samples in a row.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int bad = 0, alarm = 0, acknowledged = 1;
    while (__VERIFIER_nondet_int()) {
        int sample = __VERIFIER_nondet_int();
        if (sample > 900 || sample < 100) {
            if (bad < 3)
                bad++;
        } else {
            bad = 0;
        }
        if (bad == 3 && !alarm) {
            alarm = 1;
            acknowledged = 0;
        }
        if (alarm && __VERIFIER_nondet_int())
            acknowledged = 1;
        if (alarm && acknowledged && bad == 0)
            alarm = 0;
        if (bad >= 3 && !alarm)
            reach_error();
        if (!acknowledged && !alarm)
            reach_error();
    }
    return 0;
}
