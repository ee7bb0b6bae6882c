// true: Which handler runs depends on the code; each leaves the length that its kind of answer has.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    while (__VERIFIER_nondet_int()) {
        int code = __VERIFIER_nondet_int(), room = __VERIFIER_nondet_int();
        int kind = 0, length = 0, status = 0;
        if (room < 0 || room > 512)
            continue;
        switch (code) {
        case 0x220004: kind = 1; break;
        case 0x220008: kind = 2; break;
        case 0x22000c: kind = 3; break;
        default: status = -1;
        }
        if (status == 0) {
            if (kind == 1)
                length = 4;
            else if (kind == 2)
                length = 24;
            else
                length = 120;
            if (length > room) {
                status = -2;
                length = 0;
            }
        }
        if (status == 0 && (length > room || length == 0))
            reach_error();
        if (status != 0 && length != 0)
            reach_error();
        if (status == 0 && kind == 2 && length != 24)
            reach_error();
    }
    return 0;
}
