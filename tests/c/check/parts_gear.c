// A gearbox: the speed takes many values, and the program asks for a few bounds only.
// palisade check --analysis parts tests/c/check/parts_gear.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int gear = 1, speed = 0;

static void pedal(int more) {
    if (more == 1 && gear == 1 && speed <= 4000) {
        speed = (speed * 9 / 8 + 250) % 5000;
    } else if (more == 1 && gear == 1) {
        gear = 2;
        speed = speed / 2 + 7000;
    } else if (more == 1 && gear == 2 && speed < 9000) {
        speed = (speed - 6000) % 1999 + 7001;
    } else if (more == 2 && gear == 2) {
        gear = 1;
        speed = -((speed - 12345) % 400) + 3000;
    } else if (more == 2 && gear == 1 && speed > 100) {
        speed -= 100;
    }
}

int main(void) {
    while (1) {
        int more = __VERIFIER_nondet_int();
        if (more != 1 && more != 2) {
            continue;
        }
        pedal(more);
        if (gear == 1 && speed > 5000) {
            reach_error();
        }
        if (gear == 2 && (speed < 7000 || speed > 9500)) {
            reach_error();
        }
        if (gear > 2) {
            reach_error();
        }
    }
}
