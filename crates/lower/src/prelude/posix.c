// Functions of POSIX and GNU that are more than their line in the table.

//@ optind optarg opterr optopt
char *$optarg;
int $optind = 1;
int $opterr = 1;
int $optopt = '?';

//@ getopt getopt_long getopt_long_only
// As in the GNU library: operands between options are moved behind them, unless the option string starts with
// `+`, or with `-` to see them as arguments of an option 1, or POSIXLY_CORRECT is set.
extern char *$optarg;
extern int $optind, $opterr, $optopt;
static int $first_operand, $last_operand;
static void $exchange(char **v)
{
    // The operands [first, last) and the options [last, optind) change places.
    while ($last_operand < $optind) {
        char *option = v[$last_operand];
        int i;
        for (i = $last_operand; i > $first_operand; i--)
            v[i] = v[i - 1];
        v[$first_operand] = option;
        $first_operand++;
        $last_operand++;
    }
}
static int $is_operand(const char *word)
{
    return word[0] != '-' || word[1] == 0;
}
static char *$rest;
static int $started, $correct;
// Finds the next option: 0 if there is one, 1 for an operand that counts as one, -1 at the end.
static int $next_option(int n, char **v, const char *options)
{
    $optarg = 0;
    if (n < 1)
        return -1;
    if ($optind == 0 || !$started) {
        if ($optind == 0)
            $optind = 1;
        $started = 1;
        $correct = $unknown_int() != 0;
        // Few environments have it set.
        if ($correct)
            $opaque_int();
        $first_operand = $optind;
        $last_operand = $optind;
        $rest = 0;
    }
    if ($rest != 0 && *$rest != 0)
        return 0;
    $rest = 0;
    if ($last_operand > $optind)
        $last_operand = $optind;
    if ($first_operand > $optind)
        $first_operand = $optind;
    if (*options != '-' && *options != '+' && !$correct) {
        if ($first_operand != $last_operand && $last_operand != $optind)
            $exchange(v);
        else if ($last_operand != $optind)
            $first_operand = $optind;
        while ($optind < n && $is_operand(v[$optind]))
            $optind++;
        $last_operand = $optind;
    }
    if ($optind < n && v[$optind][0] == '-' && v[$optind][1] == '-' && v[$optind][2] == 0) {
        $optind++;
        if ($first_operand != $last_operand && $last_operand != $optind)
            $exchange(v);
        else if ($first_operand == $last_operand)
            $first_operand = $optind;
        $last_operand = n;
        $optind = n;
    }
    if ($optind >= n) {
        if ($first_operand != $last_operand)
            $optind = $first_operand;
        return -1;
    }
    if ($is_operand(v[$optind])) {
        if (*options != '-')
            return -1;
        $optarg = v[$optind++];
        return 1;
    }
    return 0;
}
// The option string behind what changes the order.
static const char *$letters(const char *options)
{
    return *options == '+' || *options == '-' ? options + 1 : options;
}
static int $letter(int n, char **v, const char *options)
{
    const char *letters = $letters(options);
    int colon = *letters == ':';
    unsigned long i = colon;
    char c;
    if ($rest == 0)
        $rest = v[$optind] + 1;
    c = *$rest++;
    while (letters[i] != 0 && (letters[i] != c || c == ':' || c == ';'))
        i++;
    if (*$rest == 0)
        $optind++;
    if (letters[i] == 0) {
        $optopt = c;
        return '?';
    }
    // `-W name` stands for a long option.
    if (letters[i] == 'W' && letters[i + 1] == ';')
        $unmodelled();
    if (letters[i + 1] != ':')
        return c;
    if (*$rest != 0) {
        $optarg = $rest;
        $optind++;
    } else if (letters[i + 2] != ':') {
        if ($optind >= n) {
            $rest = 0;
            $optopt = c;
            return colon ? ':' : '?';
        }
        $optarg = v[$optind++];
    }
    $rest = 0;
    return c;
}
int $getopt(int n, char *const v[], const char *options)
{
    int kind = $next_option(n, (char **)v, options);
    return kind != 0 ? kind : $letter(n, (char **)v, options);
}
struct $option { const char *name; int has_arg; int *flag; int val; };
// How many characters of a long option a name has, up to its argument; -1 if it is another one.
static long $match(const char *word, const char *name)
{
    long i = 0;
    while (word[i] != 0 && word[i] != '=') {
        if (word[i] != name[i])
            return -1;
        i++;
    }
    return i;
}
static int $long_option(int n, char **v, const char *options, const char *word,
                        const struct $option *table, int *index)
{
    int found = -1, exact = 0, several = 0, i;
    long length = 0;
    for (i = 0; table[i].name != 0; i++) {
        long m = $match(word, table[i].name);
        if (m < 0 || exact)
            continue;
        length = m;
        exact = table[i].name[m] == 0;
        several = !exact && found >= 0;
        found = i;
    }
    $optind++;
    if (found < 0 || several) {
        $optopt = 0;
        return '?';
    }
    if (index != 0)
        *index = found;
    if (word[length] == '=') {
        if (table[found].has_arg == 0) {
            $optopt = table[found].val;
            return '?';
        }
        $optarg = (char *)word + length + 1;
    } else if (table[found].has_arg == 1) {
        if ($optind >= n) {
            $optopt = table[found].val;
            return *$letters(options) == ':' ? ':' : '?';
        }
        $optarg = v[$optind++];
    }
    if (table[found].flag != 0) {
        *table[found].flag = table[found].val;
        return 0;
    }
    return table[found].val;
}
int $getopt_long(int n, char *const words[], const char *options, const struct $option *table, int *index)
{
    char **v = (char **)words;
    int kind = $next_option(n, v, options);
    if (kind != 0)
        return kind;
    if ($rest == 0 && v[$optind][1] == '-' && table != 0)
        return $long_option(n, v, options, v[$optind] + 2, table, index);
    return $letter(n, v, options);
}
int $getopt_long_only(int n, char *const words[], const char *options, const struct $option *table, int *index)
{
    char **v = (char **)words;
    int kind = $next_option(n, v, options);
    int i;
    if (kind != 0)
        return kind;
    if ($rest == 0 && table != 0) {
        if (v[$optind][1] == '-')
            return $long_option(n, v, options, v[$optind] + 2, table, index);
        for (i = 0; table[i].name != 0; i++)
            if ($match(v[$optind] + 1, table[i].name) > 0)
                return $long_option(n, v, options, v[$optind] + 1, table, index);
    }
    return $letter(n, v, options);
}

//@ $new_descriptor $descriptor_closed close dup2 dup3
// The system gives the lowest descriptor that is free: higher and higher ones, until one is closed.
static int $highest = 2;
static int $closed;
int $new_descriptor(void)
{
    int fd;
    if ($closed) {
        fd = $opaque_int();
        return fd < 0 || fd > 1048575 ? 0 : fd;
    }
    fd = $unknown_int();
    if (fd <= $highest || fd > 1048575)
        fd = $highest + 1;
    $highest = fd;
    return fd;
}
void $descriptor_closed(void)
{
    $closed = 1;
}
int $close(int fd)
{
    if (fd < 0 || $unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    $closed = 1;
    return 0;
}
int $dup2(int fd, int to)
{
    if (fd < 0 || to < 0 || $unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    $closed = 1;
    return to;
}
int $dup3(int fd, int to, int flags)
{
    return fd == to ? -1 : $dup2(fd, to);
}

//@ pipe pipe2
int $new_descriptor(void);
int $pipe(int *fds)
{
    int a;
    int b;
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    a = $new_descriptor();
    b = $new_descriptor();
    fds[0] = a;
    fds[1] = b == a ? a ^ 1 : b;
    return 0;
}
int $pipe2(int *fds, int flags)
{
    return $pipe(fds);
}

//@ realpath
void $fill_string(char *to, unsigned long n);
char *$realpath(const char *path, char *to)
{
    if ($unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    if (to == 0)
        to = $malloc(4096);
    to[0] = '/';
    $fill_string(to + 1, 4095);
    return to;
}

//@ getcwd
void $fill_string(char *to, unsigned long n);
char *$getcwd(char *to, unsigned long n)
{
    if (to == 0 && n == 0)
        n = 4096;
    if (n < 2 || $unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    if (to == 0)
        to = $malloc(n);
    to[0] = '/';
    $fill_string(to + 1, n - 1);
    return to;
}

//@ strftime
void $fill_string(char *to, unsigned long n);
unsigned long $strftime(char *to, unsigned long n, const char *format, const void *tm)
{
    unsigned long k = $opaque_ulong();
    $readable(tm, sizeof(long) == 8 ? 56 : 44);
    if (n == 0)
        return 0;
    if (k >= n) {
        $writable(to, n);
        $scramble(to, n);
        return 0;
    }
    $writable(to, k + 1);
    $scramble(to, k);
    to[k] = 0;
    return k;
}

//@ strptime
unsigned long $strlen(const char *s);
char *$strptime(const char *s, const char *format, void *tm)
{
    unsigned long k = $opaque_ulong();
    unsigned long n = $strlen(s);
    $writable(tm, sizeof(long) == 8 ? 56 : 44);
    $scramble(tm, sizeof(long) == 8 ? 56 : 44);
    return k > n ? 0 : (char *)s + k;
}

//@ time
long $time(long *to)
{
    long t = $unknown_long();
    if (to)
        *to = t;
    return t;
}

//@ difftime
double $difftime(long a, long b)
{
    return (double)a - (double)b;
}

//@ opendir fdopendir
// A directory is an object with room for its own use and for entries; which one is used next is open.
void *$opendir(const char *path)
{
    if ($unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    return $malloc(592);
}
void *$fdopendir(int fd)
{
    return $opendir(0);
}

//@ readdir
void *$readdir(void *d)
{
    char *entry = (char *)d + ($unknown_int() == 0 ? 32 : 312);
    $check_freeable(d);
    $writable(d, 592);
    if ($unknown_int() == 0)
        return 0;
    $scramble(entry, 280);
    entry[279] = 0;
    return entry;
}

//@ closedir
void $descriptor_closed(void);
int $closedir(void *d)
{
    $writable(d, 592);
    $descriptor_closed();
    __builtin_free(d);
    return 0;
}

//@ rewinddir dirfd
void $rewinddir(void *d)
{
    $writable(d, 592);
}
int $dirfd(void *d)
{
    int fd = $opaque_int();
    $writable(d, 592);
    return fd < 0 ? 0 : fd;
}

//@ $library_passwd
struct $passwd { char *name, *passwd; unsigned uid, gid; char *gecos, *dir, *shell; };
void *$library_passwd(void)
{
    static struct $passwd entry;
    static char text[256];
    $scramble(text, 256);
    text[255] = 0;
    if ($unknown_int() == 0)
        return 0;
    entry.name = text + (unsigned char)$unknown_int();
    entry.passwd = text + (unsigned char)$unknown_int();
    entry.uid = $unknown_uint();
    entry.gid = $unknown_uint();
    entry.gecos = text + (unsigned char)$unknown_int();
    entry.dir = text + (unsigned char)$unknown_int();
    entry.shell = text + (unsigned char)$unknown_int();
    return &entry;
}

//@ getpwnam getpwuid getpwent
void *$library_passwd(void);
void *$getpwnam(const char *name)
{
    return $library_passwd();
}
void *$getpwuid(unsigned id)
{
    return $library_passwd();
}
void *$getpwent(void)
{
    return $library_passwd();
}

//@ getgrnam getgrgid getgrent
struct $group { char *name, *passwd; unsigned gid; char **members; };
void *$getgrgid(unsigned id)
{
    static struct $group entry;
    static char text[256];
    static char *members[2];
    $scramble(text, 256);
    text[255] = 0;
    if ($unknown_int() == 0)
        return 0;
    entry.name = text + (unsigned char)$unknown_int();
    entry.passwd = text + (unsigned char)$unknown_int();
    entry.gid = $unknown_uint();
    members[0] = $unknown_int() ? text : 0;
    entry.members = members;
    return &entry;
}
void *$getgrnam(const char *name)
{
    return $getgrgid(0);
}
void *$getgrent(void)
{
    return $getgrgid(0);
}

//@ htonl ntohl
unsigned $htonl(unsigned x)
{
    return __builtin_bswap32(x);
}
unsigned $ntohl(unsigned x)
{
    return __builtin_bswap32(x);
}

//@ htons ntohs
unsigned short $htons(unsigned short x)
{
    return __builtin_bswap16(x);
}
unsigned short $ntohs(unsigned short x)
{
    return __builtin_bswap16(x);
}

//@ lfind
void *$lfind(const void *key, const void *base, unsigned long *n, unsigned long size,
             int (*compare)(const void *, const void *))
{
    unsigned long i;
    for (i = 0; i < *n; i++)
        if (compare(key, (const char *)base + i * size) == 0)
            return (char *)base + i * size;
    return 0;
}

//@ lsearch
void *$lfind(const void *key, const void *base, unsigned long *n, unsigned long size,
             int (*compare)(const void *, const void *));
void *$lsearch(const void *key, void *base, unsigned long *n, unsigned long size,
               int (*compare)(const void *, const void *))
{
    char *found = $lfind(key, base, n, size, compare);
    if (found)
        return found;
    found = (char *)base + *n * size;
    __builtin_memcpy(found, key, size);
    *n = *n + 1;
    return found;
}

//@ tsearch
struct $node { const void *key; struct $node *left, *right; };
void *$tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
    struct $node **at = (struct $node **)root;
    struct $node *node;
    if (at == 0)
        return 0;
    while (*at != 0) {
        int c = compare(key, (*at)->key);
        if (c == 0)
            return *at;
        at = c < 0 ? &(*at)->left : &(*at)->right;
    }
    node = $malloc(sizeof *node);
    node->key = key;
    node->left = 0;
    node->right = 0;
    *at = node;
    return node;
}

//@ tfind
struct $node { const void *key; struct $node *left, *right; };
void *$tfind(const void *key, void *const *root, int (*compare)(const void *, const void *))
{
    struct $node *at;
    if (root == 0)
        return 0;
    at = *(struct $node **)root;
    while (at != 0) {
        int c = compare(key, at->key);
        if (c == 0)
            return at;
        at = c < 0 ? at->left : at->right;
    }
    return 0;
}

//@ insque remque
struct $link { struct $link *next, *prev; };
void $insque(void *item, void *after)
{
    struct $link *e = item;
    struct $link *p = after;
    if (p == 0) {
        e->next = 0;
        e->prev = 0;
        return;
    }
    e->next = p->next;
    e->prev = p;
    if (p->next)
        p->next->prev = e;
    p->next = e;
}
void $remque(void *item)
{
    struct $link *e = item;
    if (e->next)
        e->next->prev = e->prev;
    if (e->prev)
        e->prev->next = e->next;
}

//@ pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock
// With one thread a lock is free or held by the caller, who waits for ever if it is not a recursive one. Where
// kinds stand is what the initialisers of the headers say.
struct $mutex { int held; unsigned count; int owner; int kind[7]; };
static int $kind(struct $mutex *m)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
    return m->kind[sizeof(long) == 8 ? 1 : 0] & 3;
}
int $pthread_mutex_init(struct $mutex *m, const int *attr)
{
    __builtin_memset(m, 0, sizeof(long) == 8 ? 40 : 24);
    m->kind[sizeof(long) == 8 ? 1 : 0] = attr ? *attr : 0;
    return 0;
}
int $pthread_mutex_destroy(struct $mutex *m)
{
    $kind(m);
    return m->held ? 16 : 0;
}
int $pthread_mutex_trylock(struct $mutex *m)
{
    int kind = $kind(m);
    if (!m->held)
        m->held = 1;
    else if (kind == 1)
        m->count++;
    else
        return 16;
    return 0;
}
int $pthread_mutex_lock(struct $mutex *m)
{
    int kind = $kind(m);
    if ($pthread_mutex_trylock(m) == 0)
        return 0;
    $assume(kind == 2);
    return 35;
}
int $pthread_mutex_unlock(struct $mutex *m)
{
    int kind = $kind(m);
    if (!m->held)
        return kind == 1 || kind == 2 ? 1 : 0;
    if (m->count > 0)
        m->count--;
    else
        m->held = 0;
    return 0;
}

//@ pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype
int $pthread_mutexattr_init(int *attr)
{
    *attr = 0;
    return 0;
}
int $pthread_mutexattr_destroy(int *attr)
{
    *attr = -1;
    return 0;
}
int $pthread_mutexattr_settype(int *attr, int kind)
{
    if (kind < 0 || kind > 3)
        return 22;
    *attr = kind;
    return 0;
}

//@ pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast
int $pthread_cond_init(void *c, const void *attr)
{
    $writable(c, 48);
    return 0;
}
int $pthread_cond_destroy(void *c)
{
    $writable(c, 48);
    return 0;
}
int $pthread_cond_signal(void *c)
{
    $writable(c, 48);
    return 0;
}
int $pthread_cond_broadcast(void *c)
{
    $writable(c, 48);
    return 0;
}

//@ pthread_attr_init pthread_attr_destroy
int $pthread_attr_init(void *attr)
{
    $writable(attr, sizeof(long) == 8 ? 56 : 36);
    $scramble(attr, sizeof(long) == 8 ? 56 : 36);
    return 0;
}
int $pthread_attr_destroy(void *attr)
{
    $writable(attr, sizeof(long) == 8 ? 56 : 36);
    return 0;
}

//@ pthread_once
int $pthread_once(int *once, void (*f)(void))
{
    if (*once == 0) {
        *once = 2;
        f();
    }
    return 0;
}

//@ pthread_self
unsigned long $pthread_self(void)
{
    static unsigned long self;
    if (self == 0) {
        self = $unknown_ulong();
        if (self == 0)
            self = 1;
    }
    return self;
}

//@ pthread_equal
int $pthread_equal(unsigned long a, unsigned long b)
{
    return a == b;
}

//@ pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific
static void *$values[1024];
static unsigned $keys;
int $pthread_key_create(unsigned *key, void (*destroy)(void *))
{
    if ($keys == 1024)
        return 11;
    *key = $keys;
    $values[$keys] = 0;
    $keys++;
    return 0;
}
int $pthread_key_delete(unsigned key)
{
    return key < $keys ? 0 : 22;
}
void *$pthread_getspecific(unsigned key)
{
    return key < $keys ? $values[key] : 0;
}
int $pthread_setspecific(unsigned key, const void *value)
{
    if (key >= $keys)
        return 22;
    $values[key] = (void *)value;
    return 0;
}

//@ getpid
int $getpid(void)
{
    static int process;
    if (process == 0) {
        process = $unknown_int();
        if (process < 1 || process > 4194304)
            process = 1;
    }
    return process;
}

//@ uname
// Six terminated strings.
int $uname(char *to)
{
    int i;
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    $writable(to, 390);
    $scramble(to, 390);
    for (i = 1; i <= 6; i++)
        to[65 * i - 1] = 0;
    return 0;
}

//@ gmtime localtime
// Both use one object. What they compute is not computed here.
static void *$broken_down(const long *t)
{
    static long tm[7];
    $readable(t, sizeof *t);
    if ($opaque_int() == 0) {
        $set_errno();
        return 0;
    }
    $scramble(tm, sizeof(long) == 8 ? 56 : 44);
    return tm;
}
void *$gmtime(const long *t)
{
    return $broken_down(t);
}
void *$localtime(const long *t)
{
    return $broken_down(t);
}

//@ clock_gettime gettimeofday
// Clocks go on: what a second question gives depends on the first answer.
static int $tell_time(long *to, long parts)
{
    static int asked;
    long part = asked ? $opaque_long() : $unknown_long();
    asked = 1;
    to[0] = $unknown_long();
    // No clock is set to a time before 1970.
    if (to[0] < 0)
        to[0] = 0;
    to[1] = part < 0 || part >= parts ? 0 : part;
    return 0;
}
int $clock_gettime(int clock, long *to)
{
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    return $tell_time(to, 1000000000);
}
int $gettimeofday(long *to, void *zone)
{
    if (zone != 0) {
        $writable(zone, 8);
        $scramble(zone, 8);
    }
    return to == 0 ? 0 : $tell_time(to, 1000000);
}

//@ gethostname
// A name that is too long is cut off, and that is an error.
void $fill_some(void *, unsigned long);
int $gethostname(char *to, unsigned long n)
{
    $fill_some(to, n);
    if ($unknown_int()) {
        $set_errno();
        return -1;
    }
    return 0;
}

//@ nanosleep clock_nanosleep
// What is left of the time is told only to who is woken up early.
int $clock_nanosleep(int clock, int flags, const void *time, void *rest)
{
    $readable(time, 2 * sizeof(long));
    if ($unknown_int() == 0)
        return 0;
    if (rest != 0 && $unknown_int()) {
        $writable(rest, 2 * sizeof(long));
        $scramble(rest, 2 * sizeof(long));
        return 4;
    }
    return $unknown_int() ? 22 : 4;
}
int $nanosleep(const void *time, void *rest)
{
    int error = $clock_nanosleep(0, 0, time, rest);
    if (error == 0)
        return 0;
    $set_errno();
    return -1;
}

//@ error error_at_line error_message_count error_print_progname
unsigned $error_message_count;
void (*$error_print_progname)(void);
void $direct_vsyslog(int, const char *, __builtin_va_list);
static void $tell(int status, const char *format, __builtin_va_list list)
{
    if ($error_print_progname != 0)
        $error_print_progname();
    $direct_vsyslog(0, format, list);
    $error_message_count++;
    if (status != 0)
        __builtin_exit(status);
}
void $error(int status, int code, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $tell(status, format, list);
    __builtin_va_end(list);
}
void $error_at_line(int status, int code, const char *file, unsigned line, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $tell(status, format, list);
    __builtin_va_end(list);
}

//@ err errx verr verrx
void $direct_vsyslog(int, const char *, __builtin_va_list);
void $verr(int status, const char *format, __builtin_va_list list)
{
    if (format != 0)
        $direct_vsyslog(0, format, list);
    __builtin_exit(status);
}
void $verrx(int status, const char *format, __builtin_va_list list)
{
    $verr(status, format, list);
}
void $err(int status, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $verr(status, format, list);
}
void $errx(int status, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $verr(status, format, list);
}

//@ warn warnx vwarn vwarnx
void $direct_vsyslog(int, const char *, __builtin_va_list);
void $vwarn(const char *format, __builtin_va_list list)
{
    if (format != 0)
        $direct_vsyslog(0, format, list);
}
void $vwarnx(const char *format, __builtin_va_list list)
{
    $vwarn(format, list);
}
void $warn(const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $vwarn(format, list);
    __builtin_va_end(list);
}
void $warnx(const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $vwarn(format, list);
    __builtin_va_end(list);
}
