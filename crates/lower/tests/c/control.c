// Jumps, lifetimes, evaluation order, variable arguments, initialisers and conversions.
int printf(const char *, ...);
void *malloc(unsigned long);
void free(void *);
void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);

struct node { int value; struct node *next; };
struct big { int a[10]; };
struct fields { unsigned a : 3; signed b : 5; unsigned long long c : 40; _Bool d : 1; };

static struct big make(int x)
{
    struct big b;
    int i;
    for (i = 0; i < 10; i++)
        b.a[i] = x + i;
    return b;
}

static int sum_list(int n, __builtin_va_list list)
{
    int s = 0;
    __builtin_va_list copy;
    __builtin_va_copy(copy, list);
    while (n-- > 0)
        s += __builtin_va_arg(copy, int);
    __builtin_va_end(copy);
    return s;
}

static int sum(int n, ...)
{
    int r;
    __builtin_va_list list;
    __builtin_va_start(list, n);
    r = sum_list(n, list) * 10;
    r += __builtin_va_arg(list, int);
    __builtin_va_end(list);
    return r;
}

static int mixed(int n, ...)
{
    __builtin_va_list list;
    struct big b;
    double d;
    long l;
    __builtin_va_start(list, n);
    b = __builtin_va_arg(list, struct big);
    d = __builtin_va_arg(list, double);
    l = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    return b.a[3] + (int)d + (int)l;
}

static int threaded(const char *code)
{
    static void *const ops[] = {&&inc, &&dec, &&twice, &&end};
    int acc = 0;
    goto *ops[*code++ - 'a'];
inc:
    acc++;
    goto *ops[*code++ - 'a'];
dec:
    acc--;
    goto *ops[*code++ - 'a'];
twice:
    acc *= 2;
    goto *ops[*code++ - 'a'];
end:
    return acc;
}

static void duff(char *to, const char *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0:
        do {
            *to++ = *from++;
        case 3:
            *to++ = *from++;
        case 2:
            *to++ = *from++;
        case 1:
            *to++ = *from++;
        } while (--n > 0);
    }
}

static int trace;
static int mark(int x)
{
    trace = trace * 10 + x;
    return x;
}

static int order(int x)
{
    int a[3] = {0, 0, 0};
    int i = 0;
    trace = 0;
    x += mark(1) + mark(2) * mark(3);
    a[mark(1)] = x;
    i = (mark(4), mark(0)) || mark(5) && mark(6);
    x += mark(7) ? mark(8) : mark(9);
    a[i] += i;
    i++;
    a[i] -= x;
    return a[0] * 100 + a[1] + i * 1000;
}

static int jumps(int n)
{
    int total = 0, i;
    if (n > 2)
        goto inside;
    for (i = 0; i < 3; i++) {
        int local = i;
        int *p = &local;
        if (i == n)
            continue;
        total += *p;
        if (total > 100)
            break;
    inside:
        local = n;
        total += local * 10;
        if (n == 4)
            goto out;
        i = n > 2 ? 5 : i;
    }
out:
    return total;
}

static int choose(int x)
{
    switch (x) {
        int hidden;
    case 1:
    case 2:
        hidden = x;
        return hidden;
    case 10 ... 20:
        x -= 5;
        break;
    case -3:
        x = 77;
    default:
        x++;
    }
    return x;
}

static int rows(int n, int m, int a[n][m])
{
    int i, j, total = 0;
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            total += a[i][j] * (i + 1);
    return total + (int)sizeof a[0];
}

static int arrays(int n)
{
    int total = 0, k;
    for (k = 1; k < n; k++) {
        int grid[k][n];
        int i;
        for (i = 0; i < k * n; i++)
            ((int *)grid)[i] = i;
        if (k == 3)
            continue;
        total += rows(k, n, grid) + (int)sizeof grid;
    }
    return total;
}

static int descending(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

static void done(int *p)
{
    printf("done %d\n", *p);
}

static int cleaned(int n)
{
    int i;
    for (i = 0; i < n; i++) {
        int kept __attribute__((cleanup(done))) = i;
        if (i == 1)
            continue;
        if (i == 3)
            return kept * 2;
    }
    return -1;
}

static const char *const names[] = {"zero", "one", [5] = "five"};
static struct { int x; struct { int y, z; } in[2]; char s[6]; } nested = {1, {{2, 3}, {.z = 5}}, "hey"};

int main(void)
{
    struct node *list = 0;
    struct fields f = {5, -3, 0x123456789aULL, 1};
    struct big one = make(1), two;
    union { float f; unsigned u; unsigned char b[4]; } pun;
    char text[20] = "0123456789";
    int numbers[] = {5, 3, 9, -1, 4}, *literal, i, n = 0;
    unsigned char small = 250;
    signed char narrow = 127;
    _Bool truth = 256;
    for (i = 0; i < 5; i++) {
        struct node *new = malloc(sizeof *new);
        *new = (struct node){i, list};
        list = new;
    }
    while (list) {
        struct node *next = list->next;
        n = n * 10 + list->value;
        free(list);
        list = next;
    }
    printf("%d\n", n);
    f.a += 4;
    f.b--;
    f.c <<= 4;
    f.d = f.a > 10;
    printf("%d %d %llx %d\n", f.a, f.b, (unsigned long long)f.c, f.d);
    two = one;
    one.a[0] = 99;
    printf("%d %d\n", two.a[0], one.a[0]);
    printf("%d %d %d\n", (one = two).a[1], make(3).a[4], make(5).a[two.a[3]]);
    pun.f = -1.5f;
    printf("%x %d\n", pun.u, pun.b[3]);
    printf("%d %d\n", sum(3, 1, 2, 3), mixed(1, make(7), 2.5, 100L));
    printf("%d\n", threaded("aacabcd"));
    duff(text, "hello duff!", 11);
    printf("%s\n", text);
    for (i = 0; i < 3; i++) {
        printf("%d ", order(i));
        printf("%d ", trace);
    }
    for (i = 0; i < 6; i++)
        printf("%d ", jumps(i));
    for (i = -4; i < 22; i++)
        printf("%d ", choose(i));
    printf("\n%d\n", arrays(5));
    qsort(numbers, 5, sizeof *numbers, descending);
    for (i = 0; i < 5; i++)
        printf("%d ", numbers[i]);
    printf("%d\n", cleaned(5));
    printf("%s %s %d %d %d %s\n", names[1], names[5], names[3] == 0, nested.in[1].y, nested.in[1].z, nested.s);
    literal = (int[]){1, 2, 3};
    literal[1] = 20;
    printf("%d\n", literal[0] + literal[1] + literal[2]);
    small += 10;
    narrow++;
    printf("%d %d %d %d\n", small, narrow, truth, !truth);
    printf("%d %d %u %d\n", -7 / 2, -7 % 2, -1 > 0u, (int)(1LL << 40 >> 38));
    printf("%.17g %d\n", 0.1 + 0.2, 0.1 + 0.2 == 0.3);
    printf("%d %d\n", ({ int y = 3; y * y; }), i ?: 7);
    return 0;
}
