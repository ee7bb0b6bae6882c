// true: A request is completed once, or is left pending, and the status says which.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int completed, pending;

void complete(void) {
    if (completed)
        reach_error();
    completed = 1;
}

int start(int parameter) {
    if (parameter < 0) {
        complete();
        return -1;
    }
    if (parameter > 4096) {
        pending = 1;
        return 259;
    }
    complete();
    return 0;
}

int main(void) {
    while (__VERIFIER_nondet_int()) {
        completed = 0;
        pending = 0;
        int status = start(__VERIFIER_nondet_int());
        if (status == 259) {
            if (completed || !pending)
                reach_error();
            complete();
        } else if (pending) {
            reach_error();
        }
        if (!completed)
            reach_error();
    }
    return 0;
}
