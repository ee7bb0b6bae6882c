// true: A thermostat with hysteresis: the heater is on or off, the temperature stays between bounds.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int temperature = 700, heater = 1;
    while (__VERIFIER_nondet_int()) {
        if (heater) {
            temperature += 4;
            if (temperature >= 750)
                heater = 0;
        } else {
            temperature -= 3;
            if (temperature <= 650)
                heater = 1;
        }
        if (temperature < 640 || temperature > 760)
            reach_error();
    }
    return 0;
}
