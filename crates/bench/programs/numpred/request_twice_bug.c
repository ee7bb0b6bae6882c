// false: A request that was cancelled while it was pending is completed again.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int completed;

void complete(void) {
    if (completed)
        reach_error();
    completed = 1;
}

int main(void) {
    while (__VERIFIER_nondet_int()) {
        completed = 0;
        int length = __VERIFIER_nondet_int();
        int status = length > 512 ? 259 : 0;
        if (status == 0)
            complete();
        if (__VERIFIER_nondet_int() && status == 259) {
            complete();
            if (length < 1024)
                status = 1;
        }
        if (status == 259)
            complete();
    }
    return 0;
}
