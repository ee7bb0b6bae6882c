// Numbers in text, division, sorting and searching, characters.
int printf(const char *, ...);
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
int abs(int);
long labs(long);
long long llabs(long long);
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
div_t div(int, int);
ldiv_t ldiv(long, long);
void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, unsigned long, unsigned long,
              int (*)(const void *, const void *));
int *__errno_location(void);
int isalpha(int), isdigit(int), isalnum(int), isupper(int), islower(int), isspace(int), isblank(int);
int isprint(int), isgraph(int), iscntrl(int), ispunct(int), isxdigit(int), toupper(int), tolower(int);
int isascii(int), toascii(int);
const unsigned short **__ctype_b_loc(void);
const int **__ctype_tolower_loc(void);
const int **__ctype_toupper_loc(void);
int atexit(void (*)(void));

static const char *const texts[] = {
    "0", "42", "-42", "+7", "  \t\n99x", "0x1F", "0X", "0xg", "077", "089", "z", "", "-", "--1", "7fffffff",
    "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "-1", "zz", "Zz9", "1 2", "000000000000000000000000000012",
};
static const int bases[] = {0, 2, 8, 10, 16, 36};

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

struct pair { short key; short order; };
static int by_key(const void *a, const void *b)
{
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

static void last(void) { printf("last\n"); }
static void first(void) { printf("first\n"); }

int main(void)
{
    unsigned i, j, state = 7;
    int c;
    atexit(last);
    atexit(first);
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *s = texts[i];
        if (i < 14)
            printf("%d %ld %lld: ", atoi(s), atol(s), atoll(s));
        for (j = 0; j < sizeof bases / sizeof *bases; j++) {
            char *end;
            *__errno_location() = 0;
            long strtol_value = strtol(s, &end, bases[j]);
            int strtol_errno = *__errno_location();
            printf("%ld@%ld/%d ", strtol_value, (long)(end - s), strtol_errno);
            *__errno_location() = 0;
            unsigned long strtoul_value = strtoul(s, &end, bases[j]);
            int strtoul_errno = *__errno_location();
            printf("%lu@%ld/%d ", strtoul_value, (long)(end - s), strtoul_errno);
            printf("%lld %llu\n", strtoll(s, 0, bases[j]), strtoull(s, 0, bases[j]));
        }
    }
    printf("%d %ld %lld\n", abs(-5) + abs(5), labs(-5000000000), llabs(-7));
    printf("%d %d %ld %ld\n", div(-7, 2).quot, div(-7, 2).rem, ldiv(7, -2).quot, ldiv(7, -2).rem);
    for (i = 0; i < 40; i++) {
        int values[40], key;
        struct pair pairs[40];
        int *found;
        for (j = 0; j < i; j++) {
            state = state * 1103515245u + 12345u;
            values[j] = (int)(state >> 16) % 50;
            pairs[j].key = (short)(state >> 20) % 5;
            pairs[j].order = (short)j;
        }
        qsort(values, i, sizeof *values, by_value);
        qsort(pairs, i, sizeof *pairs, by_key);
        for (j = 0; j < i; j++)
            printf("%d:%d.%d ", values[j], pairs[j].key, pairs[j].order);
        key = 25;
        found = bsearch(&key, values, i, sizeof *values, by_value);
        printf("%d\n", found ? *found : -1);
    }
    for (c = -1; c < 256; c++) {
        printf("%d %d %d%d%d%d%d%d%d", c, (*__ctype_b_loc())[c], !!isalpha(c), !!isdigit(c), !!isalnum(c),
               !!isupper(c), !!islower(c), !!isspace(c), !!isblank(c));
        printf("%d%d%d%d%d %d %d", !!isprint(c), !!isgraph(c), !!iscntrl(c), !!ispunct(c), !!isxdigit(c),
               toupper(c), tolower(c));
        printf(" %d %d %d %d\n", (*__ctype_toupper_loc())[c], (*__ctype_tolower_loc())[c], isascii(c),
               c < 0 ? 0 : toascii(c));
    }
    return 0;
}
