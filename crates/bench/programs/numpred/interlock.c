// true: The press closes only while both buttons are held and the door is shut.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int door = 0, left = 0, right = 0, press = 0;
    while (__VERIFIER_nondet_int()) {
        int event = __VERIFIER_nondet_int();
        if (event == 1)
            left = 1;
        else if (event == 2)
            right = 1;
        else if (event == 3)
            left = 0;
        else if (event == 4)
            right = 0;
        else if (event == 5)
            door = 1;
        else if (event == 6 && !press)
            door = 0;
        if (press && (!left || !right))
            press = 0;
        if (!press && left && right && door)
            press = 1;
        if (press && !door)
            reach_error();
        if (press && !(left && right))
            reach_error();
    }
    return 0;
}
