// `error` and its kin end the program; `warn` does not.
// palisade check --property unreach-call tests/c/check/library_error_exits.c
// verdict: true
#include <err.h>
#include <error.h>
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
static int printed;
static void name(void) { printed++; }
int main(void)
{
    int status = __VERIFIER_nondet_int();
    error_print_progname = name;
    warnx("%d", status);
    error(0, 2, "status %d", status);
    if (printed != 1 || error_message_count != 1)
        reach_error();
    error(status, 0, "end");
    if (status != 0)
        reach_error();
    errx(status, "end");
    reach_error();
}
