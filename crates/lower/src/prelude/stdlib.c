// Numbers, sorting, allocation and the end of the program.

//@ abs
int $abs(int x)
{
    return x < 0 ? -x : x;
}

//@ labs
long $labs(long x)
{
    return x < 0 ? -x : x;
}

//@ llabs imaxabs
long long $llabs(long long x)
{
    return x < 0 ? -x : x;
}
long long $imaxabs(long long x)
{
    return x < 0 ? -x : x;
}

//@ div
struct $div { int quot; int rem; };
struct $div $div(int a, int b)
{
    struct $div r;
    r.quot = a / b;
    r.rem = a % b;
    return r;
}

//@ ldiv
struct $ldiv { long quot; long rem; };
struct $ldiv $ldiv(long a, long b)
{
    struct $ldiv r;
    r.quot = a / b;
    r.rem = a % b;
    return r;
}

//@ lldiv
struct $lldiv { long long quot; long long rem; };
struct $lldiv $lldiv(long long a, long long b)
{
    struct $lldiv r;
    r.quot = a / b;
    r.rem = a % b;
    return r;
}

//@ __errno_location __errno
static int $errno;
int *$__errno_location(void)
{
    return &$errno;
}
int *$__errno(void)
{
    return &$errno;
}

//@ strtoull __isoc23_strtoull strtoumax strtouq
// The number is read without its sign into `value`; `over` says that it did not fit.
int *$__errno_location(void);
int $isspace(int c);
int $digit_value(int c);
unsigned long long $read_number(const char *s, char **end, int base, unsigned long long limit,
                                int *negative, int *over);
unsigned long long $strtoull(const char *s, char **end, int base)
{
    int negative;
    int over;
    unsigned long long value = $read_number(s, end, base, ~0ull, &negative, &over);
    if (over) {
        *$__errno_location() = 34;
        return ~0ull;
    }
    return negative ? -value : value;
}
unsigned long long $__isoc23_strtoull(const char *s, char **end, int base)
{
    return $strtoull(s, end, base);
}
unsigned long long $strtoumax(const char *s, char **end, int base)
{
    return $strtoull(s, end, base);
}
unsigned long long $strtouq(const char *s, char **end, int base)
{
    return $strtoull(s, end, base);
}

//@ strtoul __isoc23_strtoul
int *$__errno_location(void);
unsigned long long $read_number(const char *s, char **end, int base, unsigned long long limit,
                                int *negative, int *over);
unsigned long $strtoul(const char *s, char **end, int base)
{
    int negative;
    int over;
    unsigned long value = (unsigned long)$read_number(s, end, base, ~0ul, &negative, &over);
    if (over) {
        *$__errno_location() = 34;
        return ~0ul;
    }
    return negative ? -value : value;
}
unsigned long $__isoc23_strtoul(const char *s, char **end, int base)
{
    return $strtoul(s, end, base);
}

//@ strtoll __isoc23_strtoll strtoimax strtoq
int *$__errno_location(void);
unsigned long long $read_number(const char *s, char **end, int base, unsigned long long limit,
                                int *negative, int *over);
long long $strtoll(const char *s, char **end, int base)
{
    int negative;
    int over;
    unsigned long long max = ~0ull >> 1;
    unsigned long long value = $read_number(s, end, base, max + 1, &negative, &over);
    if (over || (!negative && value > max)) {
        *$__errno_location() = 34;
        return negative ? -(long long)max - 1 : (long long)max;
    }
    return (long long)(negative ? -value : value);
}
long long $__isoc23_strtoll(const char *s, char **end, int base)
{
    return $strtoll(s, end, base);
}
long long $strtoimax(const char *s, char **end, int base)
{
    return $strtoll(s, end, base);
}
long long $strtoq(const char *s, char **end, int base)
{
    return $strtoll(s, end, base);
}

//@ strtol __isoc23_strtol
int *$__errno_location(void);
unsigned long long $read_number(const char *s, char **end, int base, unsigned long long limit,
                                int *negative, int *over);
long $strtol(const char *s, char **end, int base)
{
    int negative;
    int over;
    unsigned long max = ~0ul >> 1;
    unsigned long value =
        (unsigned long)$read_number(s, end, base, (unsigned long long)max + 1, &negative, &over);
    if (over || (!negative && value > max)) {
        *$__errno_location() = 34;
        return negative ? -(long)max - 1 : (long)max;
    }
    return (long)(negative ? -value : value);
}
long $__isoc23_strtol(const char *s, char **end, int base)
{
    return $strtol(s, end, base);
}

//@ $read_number $digit_value
int *$__errno_location(void);
int $isspace(int c);
int $digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}
unsigned long long $read_number(const char *s, char **end, int base, unsigned long long limit,
                                int *negative, int *over)
{
    unsigned long i = 0;
    unsigned long long value = 0;
    int digits = 0;
    *negative = 0;
    *over = 0;
    if (base < 0 || base == 1 || base > 36) {
        *$__errno_location() = 22;
        return 0;
    }
    while ($isspace((unsigned char)s[i]))
        i++;
    if (s[i] == '-') {
        *negative = 1;
        i++;
    } else if (s[i] == '+') {
        i++;
    }
    if ((base == 0 || base == 16) && s[i] == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X')
        && $digit_value((unsigned char)s[i + 2]) < 16) {
        i += 2;
        base = 16;
    } else if (base == 0) {
        base = s[i] == '0' ? 8 : 10;
    }
    while ($digit_value((unsigned char)s[i]) < base) {
        unsigned digit = (unsigned)$digit_value((unsigned char)s[i]);
        if (value > (limit - digit) / (unsigned)base)
            *over = 1;
        else
            value = value * (unsigned)base + digit;
        digits = 1;
        i++;
    }
    if (end != 0)
        *end = (char *)s + (digits ? i : 0);
    return value;
}

//@ atoi
long $strtol(const char *s, char **end, int base);
int $atoi(const char *s)
{
    return (int)$strtol(s, 0, 10);
}

//@ atol
long $strtol(const char *s, char **end, int base);
long $atol(const char *s)
{
    return $strtol(s, 0, 10);
}

//@ atoll
long long $strtoll(const char *s, char **end, int base);
long long $atoll(const char *s)
{
    return $strtoll(s, 0, 10);
}

//@ qsort
// A bottom-up merge sort. The order of equal elements is open.
static int $first(int compared)
{
    return compared < 0 || compared == 0 && $unknown_int() == 0;
}
void $qsort(void *base, unsigned long n, unsigned long size,
            int (*compare)(const void *, const void *))
{
    char *a = base;
    char *b;
    unsigned long width;
    if (n < 2 || size == 0)
        return;
    b = $malloc(n * size);
    for (width = 1; width < n; width *= 2) {
        unsigned long low;
        for (low = 0; low < n; low += 2 * width) {
            unsigned long middle = width < n - low ? low + width : n;
            unsigned long high = width < n - middle ? middle + width : n;
            unsigned long i = low;
            unsigned long j = middle;
            unsigned long k;
            for (k = low; k < high; k++) {
                if (i < middle && (j >= high || $first(compare(a + i * size, a + j * size)))) {
                    __builtin_memcpy(b + k * size, a + i * size, size);
                    i++;
                } else {
                    __builtin_memcpy(b + k * size, a + j * size, size);
                    j++;
                }
            }
        }
        __builtin_memcpy(a, b, n * size);
    }
    __builtin_free(b);
}

//@ bsearch
void *$bsearch(const void *key, const void *base, unsigned long n, unsigned long size,
               int (*compare)(const void *, const void *))
{
    unsigned long low = 0;
    unsigned long high = n;
    while (low < high) {
        unsigned long middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (order == 0)
            return (void *)at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

//@ realloc
void *$realloc(void *old, unsigned long size)
{
    unsigned long had;
    void *new;
    if (old == 0)
        return __builtin_malloc(size);
    $check_freeable(old);
    if (size == 0) {
        __builtin_free(old);
        return 0;
    }
    had = $object_size(old);
    if ($exhausted())
        return 0;
    new = $malloc(size);
    __builtin_memcpy(new, old, had < size ? had : size);
    __builtin_free(old);
    return new;
}

//@ reallocarray
void *$realloc(void *old, unsigned long size);
void *$reallocarray(void *old, unsigned long n, unsigned long size)
{
    unsigned long bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        $set_errno();
        return 0;
    }
    return $realloc(old, bytes);
}

//@ posix_memalign
int $posix_memalign(void **to, unsigned long alignment, unsigned long size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return 22;
    if ($exhausted())
        return 12;
    *to = $malloc(size);
    return 0;
}

//@ malloc_usable_size
unsigned long $malloc_usable_size(void *p)
{
    unsigned long n = $opaque_ulong();
    if (p == 0)
        return 0;
    return n < $object_size(p) ? $object_size(p) : n;
}

//@ $random_number $seeded
// Any number, unless a generator was seeded again: equal seeds give equal numbers. Before it is seeded it is
// as if with 1.
unsigned $seeded;
unsigned $drawn;
unsigned $random_number(void)
{
    $drawn = 1;
    return $seeded > 1 ? $opaque_uint() : $unknown_uint();
}

//@ rand random lrand48
unsigned $random_number(void);
int $rand(void)
{
    return (int)($random_number() >> 1);
}
long $random(void)
{
    return $rand();
}
long $lrand48(void)
{
    return $rand();
}

//@ mrand48
unsigned $random_number(void);
long $mrand48(void)
{
    return (int)$random_number();
}

//@ drand48 erand48 nrand48 jrand48
unsigned $random_number(void);
double $drand48(void)
{
    return $random_number() * 0x1p-32 + ($random_number() & 0xffff) * 0x1p-48;
}
double $erand48(unsigned short x[3])
{
    x[0] = (unsigned short)$opaque_uint();
    x[1] = (unsigned short)$opaque_uint();
    x[2] = (unsigned short)$opaque_uint();
    return $opaque_uint() * 0x1p-32 + ($opaque_uint() & 0xffff) * 0x1p-48;
}
long $nrand48(unsigned short x[3])
{
    $erand48(x);
    return (long)($opaque_uint() >> 1);
}
long $jrand48(unsigned short x[3])
{
    $erand48(x);
    return (int)$opaque_uint();
}

//@ rand_r
int $rand_r(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u + $opaque_uint();
    return (int)($opaque_uint() >> 1);
}

//@ srand srandom srand48
extern unsigned $seeded, $drawn;
void $srand(unsigned seed)
{
    $seeded = $seeded == 0 && !$drawn ? 1 : 2;
}
void $srandom(unsigned seed)
{
    $srand(seed);
}
void $srand48(long seed)
{
    $srand(0);
}

//@ qsort_r
static int $first(int compared)
{
    return compared < 0 || compared == 0 && $unknown_int() == 0;
}
void $qsort_r(void *base, unsigned long n, unsigned long size,
              int (*compare)(const void *, const void *, void *), void *arg)
{
    char *a = base;
    char *one;
    unsigned long i;
    unsigned long j;
    if (n < 2 || size == 0)
        return;
    one = $malloc(size);
    for (i = 1; i < n; i++)
        for (j = i; j > 0 && !$first(compare(a + (j - 1) * size, a + j * size, arg)); j--) {
            __builtin_memcpy(one, a + j * size, size);
            __builtin_memcpy(a + j * size, a + (j - 1) * size, size);
            __builtin_memcpy(a + (j - 1) * size, one, size);
        }
    __builtin_free(one);
}

//@ strtod strtof strtold atof $float_length
// The extent of a number (C11 7.22.1.3) is found here; its value is computed by a native function.
int $isspace(int c);
int $isalnum(int c);
double $parse_double(const char *s);
float $parse_float(const char *s);
long double $parse_long_double(const char *s);
unsigned long $float_length(const char *s)
{
    unsigned long i = 0;
    unsigned long digits = 0;
    unsigned long end;
    int hex = 0;
    while ($isspace((unsigned char)s[i]))
        i++;
    if (s[i] == '+' || s[i] == '-')
        i++;
    if ((s[i] | 32) == 'i' && (s[i + 1] | 32) == 'n' && (s[i + 2] | 32) == 'f') {
        if ((s[i + 3] | 32) == 'i' && (s[i + 4] | 32) == 'n' && (s[i + 5] | 32) == 'i'
            && (s[i + 6] | 32) == 't' && (s[i + 7] | 32) == 'y')
            return i + 8;
        return i + 3;
    }
    if ((s[i] | 32) == 'n' && (s[i + 1] | 32) == 'a' && (s[i + 2] | 32) == 'n') {
        i += 3;
        if (s[i] == '(') {
            end = i + 1;
            while ($isalnum((unsigned char)s[end]) || s[end] == '_')
                end++;
            if (s[end] == ')')
                return end + 1;
        }
        return i;
    }
    if (s[i] == '0' && (s[i + 1] | 32) == 'x') {
        hex = 1;
        end = i + 1;
        i += 2;
    }
    for (;; i++) {
        if (s[i] >= '0' && s[i] <= '9' || hex && (s[i] | 32) >= 'a' && (s[i] | 32) <= 'f')
            digits++;
        else
            break;
    }
    if (s[i] == '.') {
        i++;
        for (;; i++) {
            if (s[i] >= '0' && s[i] <= '9' || hex && (s[i] | 32) >= 'a' && (s[i] | 32) <= 'f')
                digits++;
            else
                break;
        }
    }
    if (digits == 0)
        return hex ? end : 0;
    if ((s[i] | 32) == (hex ? 'p' : 'e')) {
        end = i + 1;
        if (s[end] == '+' || s[end] == '-')
            end++;
        if (s[end] >= '0' && s[end] <= '9') {
            while (s[end] >= '0' && s[end] <= '9')
                end++;
            i = end;
        }
    }
    return i;
}
double $strtod(const char *s, char **end)
{
    unsigned long n = $float_length(s);
    if (end)
        *end = (char *)s + n;
    if (n == 0)
        return 0.0;
    $maybe_errno();
    return $parse_double(s);
}
float $strtof(const char *s, char **end)
{
    unsigned long n = $float_length(s);
    if (end)
        *end = (char *)s + n;
    if (n == 0)
        return 0.0f;
    $maybe_errno();
    return $parse_float(s);
}
long double $strtold(const char *s, char **end)
{
    unsigned long n = $float_length(s);
    if (end)
        *end = (char *)s + n;
    if (n == 0)
        return 0.0l;
    $maybe_errno();
    return $parse_long_double(s);
}
double $atof(const char *s)
{
    return $strtod(s, 0);
}

//@ atexit on_exit $run_atexit
// Both kinds stand on one stack. C promises room for 32 handlers; beyond these registering may
// fail, and beyond what the model has room for it is not followed.
struct $exit_handler { void (*plain)(void); void (*told)(int, void *); void *argument; };
static struct $exit_handler $exit_handlers[128];
static unsigned $exit_handler_count;
static int $register_exit(void)
{
    if ($exit_handler_count >= 32 && $unknown_int())
        return 0;
    if ($exit_handler_count == 128)
        $unmodelled();
    return 1;
}
int $atexit(void (*handler)(void))
{
    if (!$register_exit())
        return -1;
    $exit_handlers[$exit_handler_count].plain = handler;
    $exit_handlers[$exit_handler_count].told = 0;
    $exit_handler_count++;
    return 0;
}
int $on_exit(void (*handler)(int, void *), void *argument)
{
    if (!$register_exit())
        return -1;
    $exit_handlers[$exit_handler_count].plain = 0;
    $exit_handlers[$exit_handler_count].told = handler;
    $exit_handlers[$exit_handler_count].argument = argument;
    $exit_handler_count++;
    return 0;
}
void $run_atexit(int status)
{
    while ($exit_handler_count > 0) {
        unsigned i = --$exit_handler_count;
        if ($exit_handlers[i].plain != 0)
            $exit_handlers[i].plain();
        else
            $exit_handlers[i].told(status, $exit_handlers[i].argument);
    }
}

//@ at_quick_exit $run_at_quick_exit
static void (*$quick_handlers[128])(void);
static unsigned $quick_handler_count;
int $at_quick_exit(void (*handler)(void))
{
    if ($quick_handler_count >= 32 && $unknown_int())
        return -1;
    if ($quick_handler_count == 128)
        $unmodelled();
    $quick_handlers[$quick_handler_count] = handler;
    $quick_handler_count++;
    return 0;
}
void $run_at_quick_exit(void)
{
    while ($quick_handler_count > 0)
        $quick_handlers[--$quick_handler_count]();
}

//@ mkstemp mkdtemp mktemp
// The last six characters, all X, become others.
unsigned long $strlen(const char *s);
int $new_descriptor(void);
static int $fill_template(char *template)
{
    unsigned long n = $strlen(template);
    unsigned long i;
    for (i = 1; i <= 6; i++)
        if (n < 6 || template[n - i] != 'X') {
            $set_errno();
            return 0;
        }
    for (i = 1; i <= 6; i++) {
        int c = $unknown_int();
        if (!(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'))
            c = 'a';
        template[n - i] = (char)c;
    }
    return 1;
}
int $mkstemp(char *template)
{
    if (!$fill_template(template))
        return -1;
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    return $new_descriptor();
}
char *$mkdtemp(char *template)
{
    if (!$fill_template(template))
        return 0;
    if ($unknown_int() != 0) {
        $set_errno();
        return 0;
    }
    return template;
}
char *$mktemp(char *template)
{
    if (!$fill_template(template))
        template[0] = 0;
    return template;
}

//@ getenv secure_getenv setenv unsetenv putenv clearenv
// Which variables there are is not known, but asking twice gives the same answer. A variable and its value
// have less than 128 KB.
int $strcmp(const char *a, const char *b);
unsigned long $strlen(const char *s);
static char $names[3][32];
static char $values[3][131072];
static int $set[3];
static int $asked;
static int $changed;
char *$getenv(const char *name)
{
    unsigned long n = $strlen(name);
    unsigned long k = $unknown_ulong();
    unsigned long i;
    int e;
    for (e = 0; e < $asked; e++)
        if ($strcmp($names[e], name) == 0)
            return $set[e] ? $values[e] : 0;
    if (n > 31 || $asked == 3 || $changed) {
        // No room to remember it, or the program knows more.
        if ($opaque_int() == 0)
            return 0;
        e = 2;
    } else {
        $asked++;
        for (i = 0; i <= n; i++)
            $names[e][i] = name[i];
        $set[e] = $unknown_int() != 0;
        if (!$set[e])
            return 0;
    }
    $scramble($values[e], sizeof $values[e]);
    $values[e][k < 131071 ? k : 131071] = 0;
    return $values[e];
}
char *$secure_getenv(const char *name)
{
    return $getenv(name);
}
static int $change(void)
{
    $changed = 1;
    $asked = 0;
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    return 0;
}
int $setenv(const char *name, const char *value, int over)
{
    return $change();
}
int $unsetenv(const char *name)
{
    return $change();
}
int $putenv(char *text)
{
    // The string itself becomes part of the environment.
    $unmodelled();
    return 0;
}
int $clearenv(void)
{
    $change();
    return 0;
}

//@ setlocale
// Until another one is asked for the locale is "C".
int $strcmp(const char *a, const char *b);
char *$library_string(void);
char *$setlocale(int category, const char *locale)
{
    static int other;
    if (category < 0 || category > 12)
        return 0;
    if (locale == 0)
        return other ? $library_string() : "C";
    if ($strcmp(locale, "C") == 0 || $strcmp(locale, "POSIX") == 0) {
        if (category == 6)
            other = 0;
        return "C";
    }
    if ($unknown_int() != 0)
        return 0;
    other = 1;
    return $library_string();
}
