// Calls every string and memory function on many small strings and prints what they answer.
int printf(const char *, ...);
void *malloc(unsigned long);
void free(void *);
void *realloc(void *, unsigned long);
void *calloc(unsigned long, unsigned long);
unsigned long strlen(const char *);
unsigned long strnlen(const char *, unsigned long);
char *strcpy(char *, const char *);
char *stpcpy(char *, const char *);
char *strncpy(char *, const char *, unsigned long);
char *stpncpy(char *, const char *, unsigned long);
char *strcat(char *, const char *);
char *strncat(char *, const char *, unsigned long);
int strcmp(const char *, const char *);
int strcoll(const char *, const char *);
int strncmp(const char *, const char *, unsigned long);
int strcasecmp(const char *, const char *);
int strncasecmp(const char *, const char *, unsigned long);
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *index(const char *, int);
char *rindex(const char *, int);
char *strchrnul(const char *, int);
char *strstr(const char *, const char *);
char *strcasestr(const char *, const char *);
unsigned long strspn(const char *, const char *);
unsigned long strcspn(const char *, const char *);
unsigned long strxfrm(char *, const char *, unsigned long);
char *strpbrk(const char *, const char *);
char *strtok(char *, const char *);
char *strtok_r(char *, const char *, char **);
char *strsep(char **, const char *);
char *strdup(const char *);
char *strndup(const char *, unsigned long);
int memcmp(const void *, const void *, unsigned long);
int bcmp(const void *, const void *, unsigned long);
void *memchr(const void *, int, unsigned long);
void *rawmemchr(const void *, int);
void *memrchr(const void *, int, unsigned long);
void *memmem(const void *, unsigned long, const void *, unsigned long);
void *memccpy(void *, const void *, int, unsigned long);
void *mempcpy(void *, const void *, unsigned long);
void *memcpy(void *, const void *, unsigned long);
void *memmove(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
void bcopy(const void *, void *, unsigned long);
void bzero(void *, unsigned long);
int ffs(int);

static unsigned state = 1;
static unsigned next(unsigned limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % limit;
}

// A string of up to seven characters of a small alphabet, with a capital and a negative one.
static void make(char *s)
{
    static const char letters[] = {'a', 'b', 'A', 'B', ',', (char)200};
    unsigned n = next(8), i;
    for (i = 0; i < n; i++)
        s[i] = letters[next(sizeof letters)];
    s[n] = 0;
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static long at(const void *found, const void *base)
{
    return found ? (const char *)found - (const char *)base : -1;
}

int main(void)
{
    int round;
    for (round = 0; round < 300; round++) {
        char a[8], b[8], c[40], d[40], *rest, *word;
        unsigned long n = next(9);
        int ch = round % 3 ? 'a' : 0;
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        memset(c, 0, sizeof c);
        memset(d, 0, sizeof d);
        make(a);
        make(b);
        printf("%lu %lu ", strlen(a), strnlen(a, n));
        memset(c, '#', sizeof c);
        printf("%ld ", at(strcpy(c, a), c));
        printf("%ld ", at(strcat(c, b), c));
        printf("%ld ", at(strncat(c, a, n), c));
        printf("%ld %s ", at(stpcpy(d, b), d), c);
        memset(c, '#', sizeof c);
        printf("%ld ", at(strncpy(c, a, n), c));
        c[39] = 0;
        printf("%s %s ", c, c + 9);
        memset(c, '#', sizeof c);
        printf("%ld %d ", at(stpncpy(c, a, n), c), c[n]);
        printf("%d %d %d ", sign(strcmp(a, b)), sign(strcoll(a, b)), sign(strncmp(a, b, n)));
        printf("%d %d ", sign(strcasecmp(a, b)), sign(strncasecmp(a, b, n)));
        printf("%ld %ld %ld ", at(strchr(a, ch), a), at(strrchr(a, ch), a), at(strchrnul(a, ch), a));
        printf("%ld %ld ", at(index(a, 'b'), a), at(rindex(a, 'b'), a));
        b[n % 3] = 0;
        printf("%ld %ld ", at(strstr(a, b), a), at(strcasestr(a, b), a));
        printf("%lu %lu %ld ", strspn(a, b), strcspn(a, b), at(strpbrk(a, b), a));
        printf("%lu ", strxfrm(c, a, sizeof c));
        if (n > strlen(a))
            n = strlen(a);
        if (n > strlen(b))
            n = strlen(b);
        printf("%d %d ", sign(memcmp(a, b, n + 1)), !!bcmp(a, b, n + 1));
        printf("%ld %ld ", at(memchr(a, ch, strlen(a) + 1), a), at(memrchr(a, ch, strlen(a) + 1), a));
        printf("%ld ", at(rawmemchr(a, 0), a));
        printf("%ld ", at(memmem(a, strlen(a), b, strlen(b)), a));
        printf("%ld ", at(memccpy(c, a, 'b', strlen(a) + 1), c));
        printf("%ld ", at(mempcpy(d, a, sizeof a), d));
        bcopy(d, d + 3, 8);
        memmove(d + 1, d, 8);
        bzero(d + 20, 3);
        printf("%d %s %d ", d[4], d + 1, d[21]);
        word = strdup(a);
        rest = strndup(a, n);
        printf("%s %s ", word, rest);
        rest = realloc(rest, 30);
        strcat(rest, "!");
        printf("%s ", rest);
        free(word);
        free(rest);
        strcpy(c, a);
        strcat(c, ",ab,,A");
        strcpy(d, c);
        for (word = strtok(c, ",b"); word; word = strtok(0, ",b"))
            printf("[%s]", word);
        for (word = strtok_r(d, "a", &rest); word; word = strtok_r(0, "a", &rest))
            printf("<%s>", word);
        strcpy(c, "x,yb,");
        rest = c;
        while ((word = strsep(&rest, ",b")) != 0)
            printf("(%s)", word);
        printf(" %d\n", ffs(round << (round % 20)));
    }
    return 0;
}
