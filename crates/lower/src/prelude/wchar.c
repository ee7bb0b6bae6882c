// Wide characters, which are ints.

//@ wcslen
unsigned long $wcslen(const int *s)
{
    unsigned long n = 0;
    while (s[n] != 0)
        n++;
    return n;
}

//@ wcsnlen
unsigned long $wcsnlen(const int *s, unsigned long max)
{
    unsigned long n = 0;
    while (n < max && s[n] != 0)
        n++;
    return n;
}

//@ wcscpy
int *$wcscpy(int *to, const int *from)
{
    unsigned long i = 0;
    while (from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    $apart(to, from, (i + 1) * sizeof *to);
    return to;
}

//@ wcsncpy
int *$wcsncpy(int *to, const int *from, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    $apart(to, from, (i == n || from > to ? n : i + 1) * sizeof *to);
    while (i < n) {
        to[i] = 0;
        i++;
    }
    return to;
}

//@ wcscat
unsigned long $wcslen(const int *s);
int *$wcscpy(int *to, const int *from);
int *$wcscat(int *to, const int *from)
{
    $wcscpy(to + $wcslen(to), from);
    return to;
}

//@ wcsncat
unsigned long $wcslen(const int *s);
int *$wcsncat(int *to, const int *from, unsigned long max)
{
    unsigned long n = $wcslen(to);
    unsigned long i = 0;
    while (i < max && from[i] != 0) {
        to[n + i] = from[i];
        i++;
    }
    to[n + i] = 0;
    $apart(to, from, (from > to ? n + i + 1 : i + 1) * sizeof *to);
    return to;
}

//@ wcscmp wcscoll
int $wcscmp(const int *a, const int *b)
{
    unsigned long i = 0;
    while (a[i] != 0 && a[i] == b[i])
        i++;
    return a[i] == b[i] ? 0 : a[i] < b[i] ? -1 : 1;
}
int $wcscoll(const int *a, const int *b)
{
    return $wcscmp(a, b);
}

//@ wcsncmp
int $wcsncmp(const int *a, const int *b, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && a[i] != 0 && a[i] == b[i])
        i++;
    return i == n || a[i] == b[i] ? 0 : a[i] < b[i] ? -1 : 1;
}

//@ wcschr
int *$wcschr(const int *s, int c)
{
    unsigned long i = 0;
    while (s[i] != c) {
        if (s[i] == 0)
            return 0;
        i++;
    }
    return (int *)s + i;
}

//@ wcsrchr
int *$wcsrchr(const int *s, int c)
{
    const int *found = 0;
    unsigned long i = 0;
    while (s[i] != 0) {
        if (s[i] == c)
            found = s + i;
        i++;
    }
    return c == 0 ? (int *)s + i : (int *)found;
}

//@ wcsstr
int *$wcsstr(const int *text, const int *word)
{
    unsigned long at = 0;
    for (;;) {
        unsigned long i = 0;
        while (word[i] != 0 && text[at + i] == word[i])
            i++;
        if (word[i] == 0)
            return (int *)text + at;
        if (text[at + i] == 0)
            return 0;
        at++;
    }
}

//@ wcsspn
unsigned long $wcsspn(const int *s, const int *accept)
{
    unsigned long n = 0;
    while (s[n] != 0) {
        unsigned long i = 0;
        while (accept[i] != 0 && accept[i] != s[n])
            i++;
        if (accept[i] == 0)
            break;
        n++;
    }
    return n;
}

//@ wcscspn
unsigned long $wcscspn(const int *s, const int *reject)
{
    unsigned long n = 0;
    while (s[n] != 0) {
        unsigned long i = 0;
        while (reject[i] != 0 && reject[i] != s[n])
            i++;
        if (reject[i] != 0)
            break;
        n++;
    }
    return n;
}

//@ wcspbrk
unsigned long $wcscspn(const int *s, const int *reject);
int *$wcspbrk(const int *s, const int *accept)
{
    unsigned long n = $wcscspn(s, accept);
    return s[n] == 0 ? 0 : (int *)s + n;
}

//@ wcstok
unsigned long $wcsspn(const int *s, const int *accept);
unsigned long $wcscspn(const int *s, const int *reject);
int *$wcstok(int *s, const int *delimiters, int **rest)
{
    unsigned long n;
    if (s == 0)
        s = *rest;
    if (s == 0)
        return 0;
    s += $wcsspn(s, delimiters);
    if (*s == 0) {
        *rest = 0;
        return 0;
    }
    n = $wcscspn(s, delimiters);
    if (s[n] == 0) {
        *rest = 0;
    } else {
        s[n] = 0;
        *rest = s + n + 1;
    }
    return s;
}

//@ wcsdup
unsigned long $wcslen(const int *s);
int *$wcsdup(const int *s)
{
    unsigned long n = ($wcslen(s) + 1) * sizeof *s;
    int *copy;
    if ($exhausted())
        return 0;
    copy = $malloc(n);
    __builtin_memcpy(copy, s, n);
    return copy;
}

//@ wmemcpy wmemmove
int *$wmemcpy(int *to, const int *from, unsigned long n)
{
    __builtin_memcpy(to, from, n * sizeof *to);
    return to;
}
int *$wmemmove(int *to, const int *from, unsigned long n)
{
    __builtin_memmove(to, from, n * sizeof *to);
    return to;
}

//@ wmemset
int *$wmemset(int *to, int c, unsigned long n)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        to[i] = c;
    return to;
}

//@ wmemcmp
int $wmemcmp(const int *a, const int *b, unsigned long n)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

//@ wmemchr
int *$wmemchr(const int *s, int c, unsigned long n)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        if (s[i] == c)
            return (int *)s + i;
    return 0;
}

//@ mbstowcs
// Characters of one byte that are ASCII stand for themselves in every locale.
void $fill_some(void *to, unsigned long n);
unsigned long $mbstowcs(int *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    while (to == 0 || i < n) {
        if (from[i] < 0) {
            $set_errno();
            if (to != 0)
                $fill_some(to + i, (n - i) * sizeof *to);
            return $opaque_ulong();
        }
        if (to != 0)
            to[i] = from[i];
        if (from[i] == 0)
            break;
        i++;
    }
    return i;
}

//@ wcstombs
void $fill_some(void *to, unsigned long n);
unsigned long $wcstombs(char *to, const int *from, unsigned long n)
{
    unsigned long i = 0;
    while (to == 0 || i < n) {
        if (from[i] < 0 || from[i] > 127) {
            $set_errno();
            if (to != 0)
                $fill_some(to + i, (n - i) * sizeof *to);
            return $opaque_ulong();
        }
        if (to != 0)
            to[i] = (char)from[i];
        if (from[i] == 0)
            break;
        i++;
    }
    return i;
}
