// C strings and raw memory. See mod.rs for how units are marked and linked.

//@ strlen
unsigned long $strlen(const char *s)
{
    unsigned long n = 0;
    while (s[n] != 0)
        n++;
    // No object is larger than a difference of pointers can say, and the end is part of it.
    $assume(n < ~0ul >> 1);
    return n;
}

//@ strnlen
unsigned long $strnlen(const char *s, unsigned long max)
{
    unsigned long n = 0;
    while (n < max && s[n] != 0)
        n++;
    return n;
}

//@ strcpy
char *$strcpy(char *to, const char *from)
{
    unsigned long i = 0;
    while (from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    $apart(to, from, i + 1);
    return to;
}

//@ stpcpy
char *$stpcpy(char *to, const char *from)
{
    unsigned long i = 0;
    while (from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    $apart(to, from, i + 1);
    return to + i;
}

//@ strncpy
char *$strncpy(char *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    $apart(to, from, i == n || from > to ? n : i + 1);
    while (i < n) {
        to[i] = 0;
        i++;
    }
    return to;
}

//@ stpncpy
char *$stpncpy(char *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    unsigned long end;
    while (i < n && from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    end = i;
    $apart(to, from, i == n || from > to ? n : i + 1);
    while (i < n) {
        to[i] = 0;
        i++;
    }
    return to + end;
}

//@ strlcpy
unsigned long $strlen(const char *s);
unsigned long $strlcpy(char *to, const char *from, unsigned long size)
{
    unsigned long i = 0;
    if (size != 0) {
        while (i < size - 1 && from[i] != 0) {
            to[i] = from[i];
            i++;
        }
        to[i] = 0;
    }
    return $strlen(from);
}

//@ strlcat
unsigned long $strlen(const char *s);
unsigned long $strlcat(char *to, const char *from, unsigned long size)
{
    unsigned long n = 0;
    unsigned long i = 0;
    while (n < size && to[n] != 0)
        n++;
    if (n == size)
        return size + $strlen(from);
    while (n + i < size - 1 && from[i] != 0) {
        to[n + i] = from[i];
        i++;
    }
    to[n + i] = 0;
    return n + $strlen(from);
}

//@ strcat
char *$strcat(char *to, const char *from)
{
    unsigned long n = 0;
    unsigned long i = 0;
    while (to[n] != 0)
        n++;
    while (from[i] != 0) {
        to[n + i] = from[i];
        i++;
    }
    to[n + i] = 0;
    $apart(to, from, from > to ? n + i + 1 : i + 1);
    return to;
}

//@ strncat
char *$strncat(char *to, const char *from, unsigned long max)
{
    unsigned long n = 0;
    unsigned long i = 0;
    while (to[n] != 0)
        n++;
    while (i < max && from[i] != 0) {
        to[n + i] = from[i];
        i++;
    }
    to[n + i] = 0;
    $apart(to, from, from > to ? n + i + 1 : i + 1);
    return to;
}

//@ $sign
// C fixes no more than the sign of a comparison's result.
int $sign(int difference)
{
    int r;
    if (difference == 0)
        return 0;
    r = $unknown_int();
    if (difference < 0)
        return r < 0 ? r : -1;
    return r > 0 ? r : 1;
}

//@ strcmp
int $sign(int difference);
int $strcmp(const char *a, const char *b)
{
    unsigned long i = 0;
    while (a[i] != 0 && a[i] == b[i])
        i++;
    return $sign((int)(unsigned char)a[i] - (int)(unsigned char)b[i]);
}

//@ strcoll
int $strcmp(const char *a, const char *b);
int $strcoll(const char *a, const char *b)
{
    return $strcmp(a, b);
}

//@ strxfrm
unsigned long $strlen(const char *s);
unsigned long $strxfrm(char *to, const char *from, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    if (i < n)
        to[i] = 0;
    return $strlen(from);
}

//@ strncmp
int $sign(int difference);
int $strncmp(const char *a, const char *b, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && a[i] != 0 && a[i] == b[i])
        i++;
    if (i == n)
        return 0;
    return $sign((int)(unsigned char)a[i] - (int)(unsigned char)b[i]);
}

//@ strcasecmp
int $sign(int difference);
int $tolower(int c);
int $strcasecmp(const char *a, const char *b)
{
    unsigned long i = 0;
    while (a[i] != 0 && $tolower((unsigned char)a[i]) == $tolower((unsigned char)b[i]))
        i++;
    return $sign($tolower((unsigned char)a[i]) - $tolower((unsigned char)b[i]));
}

//@ strncasecmp
int $sign(int difference);
int $tolower(int c);
int $strncasecmp(const char *a, const char *b, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && a[i] != 0
           && $tolower((unsigned char)a[i]) == $tolower((unsigned char)b[i]))
        i++;
    if (i == n)
        return 0;
    return $sign($tolower((unsigned char)a[i]) - $tolower((unsigned char)b[i]));
}

//@ strchr
char *$strchr(const char *s, int c)
{
    unsigned long i = 0;
    while (s[i] != (char)c) {
        if (s[i] == 0)
            return 0;
        i++;
    }
    return (char *)s + i;
}

//@ index
char *$strchr(const char *s, int c);
char *$index(const char *s, int c)
{
    return $strchr(s, c);
}

//@ strchrnul
char *$strchrnul(const char *s, int c)
{
    unsigned long i = 0;
    while (s[i] != 0 && s[i] != (char)c)
        i++;
    return (char *)s + i;
}

//@ strrchr
char *$strrchr(const char *s, int c)
{
    const char *found = 0;
    unsigned long i = 0;
    while (s[i] != 0) {
        if (s[i] == (char)c)
            found = s + i;
        i++;
    }
    if ((char)c == 0)
        return (char *)s + i;
    return (char *)found;
}

//@ rindex
char *$strrchr(const char *s, int c);
char *$rindex(const char *s, int c)
{
    return $strrchr(s, c);
}

//@ strstr
// The word is read to its end before anything else, here and in the functions behind.
void $check_string(const char *s);
char *$strstr(const char *text, const char *word)
{
    unsigned long at = 0;
    $check_string(word);
    for (;;) {
        unsigned long i = 0;
        while (word[i] != 0 && text[at + i] == word[i])
            i++;
        if (word[i] == 0)
            return (char *)text + at;
        if (text[at + i] == 0)
            return 0;
        at++;
    }
}

//@ strcasestr
int $tolower(int c);
void $check_string(const char *s);
char *$strcasestr(const char *text, const char *word)
{
    unsigned long at = 0;
    $check_string(word);
    for (;;) {
        unsigned long i = 0;
        while (word[i] != 0
               && $tolower((unsigned char)text[at + i]) == $tolower((unsigned char)word[i]))
            i++;
        if (word[i] == 0)
            return (char *)text + at;
        if (text[at + i] == 0)
            return 0;
        at++;
    }
}

//@ strspn
void $check_string(const char *s);
unsigned long $strspn(const char *s, const char *accept)
{
    unsigned long n = 0;
    $check_string(accept);
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

//@ strcspn
void $check_string(const char *s);
unsigned long $strcspn(const char *s, const char *reject)
{
    unsigned long n = 0;
    $check_string(reject);
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

//@ strpbrk
unsigned long $strcspn(const char *s, const char *reject);
char *$strpbrk(const char *s, const char *accept)
{
    unsigned long n = $strcspn(s, accept);
    if (s[n] == 0)
        return 0;
    return (char *)s + n;
}

//@ strtok_r __strtok_r
unsigned long $strspn(const char *s, const char *accept);
unsigned long $strcspn(const char *s, const char *reject);
char *$strtok_r(char *s, const char *delimiters, char **rest)
{
    unsigned long n;
    if (s == 0)
        s = *rest;
    s += $strspn(s, delimiters);
    if (*s == 0) {
        *rest = s;
        return 0;
    }
    n = $strcspn(s, delimiters);
    if (s[n] == 0) {
        *rest = s + n;
    } else {
        s[n] = 0;
        *rest = s + n + 1;
    }
    return s;
}
char *$__strtok_r(char *s, const char *delimiters, char **rest)
{
    return $strtok_r(s, delimiters, rest);
}

//@ strtok
char *$strtok_r(char *s, const char *delimiters, char **rest);
char *$strtok(char *s, const char *delimiters)
{
    static char *rest;
    return $strtok_r(s, delimiters, &rest);
}

//@ strsep
unsigned long $strcspn(const char *s, const char *reject);
char *$strsep(char **rest, const char *delimiters)
{
    char *s = *rest;
    unsigned long n;
    if (s == 0)
        return 0;
    n = $strcspn(s, delimiters);
    if (s[n] == 0) {
        *rest = 0;
    } else {
        s[n] = 0;
        *rest = s + n + 1;
    }
    return s;
}

//@ strdup __strdup
unsigned long $strlen(const char *s);
char *$strdup(const char *s)
{
    unsigned long n = $strlen(s) + 1;
    char *copy;
    if ($exhausted())
        return 0;
    copy = $malloc(n);
    __builtin_memcpy(copy, s, n);
    return copy;
}
char *$__strdup(const char *s)
{
    return $strdup(s);
}

//@ strndup __strndup
unsigned long $strnlen(const char *s, unsigned long max);
char *$strndup(const char *s, unsigned long max)
{
    unsigned long n = $strnlen(s, max);
    char *copy;
    if ($exhausted())
        return 0;
    copy = $malloc(n + 1);
    __builtin_memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}
char *$__strndup(const char *s, unsigned long max)
{
    return $strndup(s, max);
}

//@ memcmp
int $sign(int difference);
int $memcmp(const void *a, const void *b, unsigned long n)
{
    const unsigned char *x = a;
    const unsigned char *y = b;
    unsigned long i;
    $readable(a, n);
    $readable(b, n);
    for (i = 0; i < n; i++)
        if (x[i] != y[i])
            return $sign((int)x[i] - (int)y[i]);
    return 0;
}

//@ bcmp
int $memcmp(const void *a, const void *b, unsigned long n);
int $bcmp(const void *a, const void *b, unsigned long n)
{
    return $memcmp(a, b, n);
}

//@ memchr
void *$memchr(const void *s, int c, unsigned long n)
{
    const unsigned char *x = s;
    unsigned long i;
    for (i = 0; i < n; i++)
        if (x[i] == (unsigned char)c)
            return (void *)(x + i);
    return 0;
}

//@ rawmemchr
void *$rawmemchr(const void *s, int c)
{
    const unsigned char *x = s;
    unsigned long i = 0;
    while (x[i] != (unsigned char)c)
        i++;
    return (void *)(x + i);
}

//@ memrchr
void *$memrchr(const void *s, int c, unsigned long n)
{
    const unsigned char *x = s;
    while (n > 0) {
        n--;
        if (x[n] == (unsigned char)c)
            return (void *)(x + n);
    }
    return 0;
}

//@ memmem
int $memcmp(const void *a, const void *b, unsigned long n);
void *$memmem(const void *text, unsigned long n, const void *word, unsigned long m)
{
    const unsigned char *x = text;
    unsigned long i;
    $readable(text, n);
    $readable(word, m);
    if (m > n)
        return 0;
    for (i = 0; i <= n - m; i++)
        if ($memcmp(x + i, word, m) == 0)
            return (void *)(x + i);
    return 0;
}

//@ memccpy
void *$memccpy(void *to, const void *from, int c, unsigned long n)
{
    unsigned char *x = to;
    const unsigned char *y = from;
    unsigned long i;
    for (i = 0; i < n; i++) {
        x[i] = y[i];
        if (y[i] == (unsigned char)c) {
            $apart(to, from, i + 1);
            return x + i + 1;
        }
    }
    $apart(to, from, n);
    return 0;
}

//@ mempcpy
void *$mempcpy(void *to, const void *from, unsigned long n)
{
    __builtin_memcpy(to, from, n);
    return (char *)to + n;
}

//@ bcopy
void $bcopy(const void *from, void *to, unsigned long n)
{
    __builtin_memmove(to, from, n);
}

//@ bzero
void $bzero(void *to, unsigned long n)
{
    __builtin_memset(to, 0, n);
}

//@ ffs
int $ffs(int x)
{
    int n;
    for (n = 0; n < 32; n++)
        if ((unsigned)x >> n & 1)
            return n + 1;
    return 0;
}

//@ ffsl
int $ffsl(long x)
{
    int n;
    for (n = 0; n < 8 * (int)sizeof x; n++)
        if ((unsigned long)x >> n & 1)
            return n + 1;
    return 0;
}

//@ ffsll
int $ffsll(long long x)
{
    int n;
    for (n = 0; n < 64; n++)
        if ((unsigned long long)x >> n & 1)
            return n + 1;
    return 0;
}

//@ explicit_bzero
void $explicit_bzero(void *to, unsigned long n)
{
    __builtin_memset(to, 0, n);
}

//@ swab
void $swab(const void *from, void *to, long n)
{
    const char *x = from;
    char *y = to;
    long i;
    $apart(to, from, n > 1 ? n & ~1ul : 0);
    for (i = 0; i + 1 < n; i += 2) {
        char c = x[i];
        y[i] = x[i + 1];
        y[i + 1] = c;
    }
}

//@ basename
char *$basename(const char *path)
{
    unsigned long i = 0;
    unsigned long start = 0;
    for (; path[i] != 0; i++)
        if (path[i] == '/')
            start = i + 1;
    return (char *)path + start;
}

//@ __xpg_basename dirname
// Slashes at the end are cut off; what is found is a part of the path or text of the library.
unsigned long $strlen(const char *s);
char *$__xpg_basename(char *path)
{
    static char dot[2];
    unsigned long n;
    unsigned long i;
    dot[0] = '.';
    dot[1] = 0;
    if (path == 0 || *path == 0)
        return dot;
    n = $strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
        path[n] = 0;
    }
    if (n == 1 && path[0] == '/')
        return path;
    for (i = n; i > 0 && path[i - 1] != '/'; i--)
        ;
    return path + i;
}
char *$dirname(char *path)
{
    static char dot[2];
    unsigned long n;
    dot[0] = '.';
    dot[1] = 0;
    if (path == 0 || *path == 0)
        return dot;
    n = $strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return dot;
    while (n > 1 && path[n - 1] == '/')
        n--;
    path[n] = 0;
    return path;
}

//@ memfrob
void *$memfrob(void *s, unsigned long n)
{
    unsigned long i;
    for (i = 0; i < n; i++)
        ((char *)s)[i] ^= 42;
    return s;
}
