// The rest of the standard library: exit handlers, sorting records, absolute values, division.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item { char name[8]; int rank; };
static int by_rank(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : strcmp(x->name, y->name);
}
static void first(void) { puts("first handler"); }
static void second(void) { puts("second handler"); }

int main(int argc, char **argv)
{
    (void)argv;
    atexit(first);
    atexit(second);
    struct item items[] = { { "c", 3 }, { "a", 1 }, { "b", 3 }, { "d", 0 } };
    qsort(items, 4, sizeof *items, by_rank);
    for (int i = 0; i < 4; i++)
        printf("%s%d ", items[i].name, items[i].rank);
    printf("%d\n", argc);
    div_t d = div(-7, 2);
    ldiv_t l = ldiv(100, 7);
    printf("%d %d %ld %ld %d %ld\n", d.quot, d.rem, l.quot, l.rem, abs(-5), labs(-6L));
    assert(d.quot == -3);
    errno = 0;
    long v = strtol("99999999999999999999", NULL, 10);
    printf("%d %d\n", v == 0x7fffffffffffffffL, errno == ERANGE);
    char *p = malloc(10);
    memset(p, 'a', 9);
    p[9] = 0;
    p = realloc(p, 100);
    printf("%s %d\n", p, getenv("SURELY_NOT_SET_ANYWHERE") == NULL);
    free(p);
    exit(42);
}
