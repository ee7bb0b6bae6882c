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
int *$__errno_location(void);
int $close(int fd)
{
    if (fd < 0) {
        *$__errno_location() = 9;
        return -1;
    }
    if ($unknown_int() != 0) {
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

//@ lseek lseek64
// A place that is counted from the start is the one that is asked for; of the others nobody keeps count.
long $lseek(int fd, long place, int from)
{
    if (fd < 0 || $unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    return from == 0 && place >= 0 ? place : $opaque_long();
}
long $lseek64(int fd, long place, int from)
{
    return $lseek(fd, place, from);
}

//@ poll
// Of each entry only what happened changes.
struct $polled { int fd; short events, happened; };
int $poll(struct $polled *all, unsigned long n, int timeout)
{
    unsigned long i;
    int ready = 0;
    if ($unknown_int()) {
        $set_errno();
        return -1;
    }
    for (i = 0; i < n; i++) {
        all[i].happened = 0;
        // An error, a hang-up, or a descriptor that is not open is told though nobody asks.
        if (all[i].fd >= 0 && $unknown_int()) {
            all[i].happened = (short)$unknown_int() & (all[i].events | 0x38);
            ready += all[i].happened != 0;
        }
    }
    return ready;
}

//@ select
// What is ready is among what was asked about.
static int $ready(int n, unsigned char *set)
{
    int i, ready = 0;
    for (i = 0; set != 0 && i < n; i++)
        if (set[i / 8] >> i % 8 & 1) {
            if ($unknown_int())
                ready++;
            else
                set[i / 8] &= (unsigned char)~(1 << i % 8);
        }
    return ready;
}
int $select(int n, void *r, void *w, void *e, void *timeout)
{
    if (n < 0 || n > 1024 || $unknown_int()) {
        $set_errno();
        return -1;
    }
    if (timeout != 0) {
        $writable(timeout, 2 * sizeof(long));
        $scramble(timeout, 2 * sizeof(long));
    }
    return $ready(n, r) + $ready(n, w) + $ready(n, e);
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
