// true: The client's side of a handshake: no data before both sides have finished.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

enum { START = 16, HELLO_SENT = 17, HELLO_SEEN = 32, CERTIFICATE = 33, KEY = 48, FINISH = 49, DONE = 64 };

int main(void) {
    int state = START, resumed = 0, verified = 0, finished = 0;
    while (__VERIFIER_nondet_int()) {
        int message = __VERIFIER_nondet_int();
        switch (state) {
        case START:
            verified = 0;
            finished = 0;
            state = HELLO_SENT;
            break;
        case HELLO_SENT:
            if (message == 2)
                state = HELLO_SEEN;
            break;
        case HELLO_SEEN:
            resumed = __VERIFIER_nondet_int() != 0;
            if (resumed) {
                verified = 1;
                state = FINISH;
            } else {
                state = CERTIFICATE;
            }
            break;
        case CERTIFICATE:
            if (message == 11) {
                verified = 1;
                state = KEY;
            } else {
                state = START;
            }
            break;
        case KEY:
            state = FINISH;
            break;
        case FINISH:
            if (!verified)
                reach_error();
            if (message == 20) {
                finished = 1;
                state = DONE;
            }
            break;
        case DONE:
            if (!verified || !finished)
                reach_error();
            if (message == 0)
                state = START;
            break;
        default:
            reach_error();
        }
    }
    return 0;
}
