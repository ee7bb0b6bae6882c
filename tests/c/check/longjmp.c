// A non-local jump is not in the automaton: what follows it may or may not happen.
// palisade check tests/c/check/longjmp.c
// verdict: unknown
typedef long jmp_buf[8];
extern int setjmp(jmp_buf);
extern void longjmp(jmp_buf, int) __attribute__((noreturn));
extern void reach_error(void);
static jmp_buf env;
int main(void) {
    if (setjmp(env) == 7) reach_error();
    longjmp(env, 7);
}
