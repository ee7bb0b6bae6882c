// Control flow: switch in all shapes, computed goto, Duff's device, loops with jumps.
#include <stdio.h>

static int classify(int x)
{
    switch (x) {
    case 0: return 100;
    case 1 ... 5: return 200;
    case -7:
    case 9: x += 1; /* fall through */
    case 10: return 300 + x;
    default: return -1;
    }
}

static void copy(char *to, const char *from, int count)
{
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 7: *to++ = *from++;
    case 6: *to++ = *from++;
    case 5: *to++ = *from++;
    case 4: *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
            } while (--n > 0);
    }
}

static int run(const char *code)
{
    static const void *const table[] = { &&inc, &&dbl, &&dec, &&end };
    int acc = 1;
    goto *table[*code++ - 'a'];
inc: acc++; goto *table[*code++ - 'a'];
dbl: acc *= 2; goto *table[*code++ - 'a'];
dec: acc--; goto *table[*code++ - 'a'];
end: return acc;
}

static int collatz(unsigned long n)
{
    int steps = 0;
again:
    if (n == 1)
        return steps;
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
    goto again;
}

int main(void)
{
    for (int i = -8; i < 12; i++)
        printf("%d ", classify(i));
    printf("\n");
    char to[20] = { 0 };
    copy(to, "duff's device!", 14);
    printf("%s %d %d\n", to, run("aabcd"), run("bbbbd"));
    int i, j, found = 0;
    for (i = 0; i < 10; i++) {
        for (j = 0; j < 10; j++) {
            if (j == i)
                continue;
            if (i * j == 42) {
                found = 1;
                goto out;
            }
        }
        if (i == 8)
            break;
    }
out:
    printf("%d %d %d %d\n", found, i, j, collatz(27));
    int k = 0;
    do {
        if (k == 3)
            continue;
        printf("%d", k);
    } while (++k < 5);
    while (k --> 0)
        if (k & 1)
            printf("<%d>", k);
    printf("\n");
    int a = 0, b = 5, log = 0;
    (a && (log |= 1)) || (b && (log |= 2)) || (log |= 4);
    printf("%d %d\n", log, (a, b) ? b > 3 ? 1 : 2 : 3);
    switch (b) {
        int unused;
    case 5:
        unused = 2;
        for (; unused; unused--) {
    case 6:
            log += 10;
        }
    }
    printf("%d\n", log);
    return log;
}
