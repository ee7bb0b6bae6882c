// Functions of POSIX and GNU that are more than their line in the table.

//@ optind optarg opterr optopt
char *$optarg;
int $optind = 1;
int $opterr = 1;
int $optopt = '?';

//@ getopt
extern char *$optarg;
extern int $optind, $opterr, $optopt;
int $getopt(int n, char *const v[], const char *options)
{
    static char *rest;
    unsigned long i = 0;
    char *word;
    char c;
    $optarg = 0;
    if ($optind == 0) {
        $optind = 1;
        rest = 0;
    }
    if (rest == 0 || *rest == 0) {
        if ($optind >= n)
            return -1;
        word = v[$optind];
        if (word == 0 || word[0] != '-' || word[1] == 0)
            return -1;
        if (word[1] == '-' && word[2] == 0) {
            $optind++;
            return -1;
        }
        rest = word + 1;
    }
    c = *rest++;
    if (*options == '+' || *options == '-' || *options == ':')
        i = 1;
    while (options[i] != 0 && (options[i] != c || c == ':'))
        i++;
    if (options[i] == 0) {
        $optopt = c;
        if (*rest == 0)
            $optind++;
        return '?';
    }
    if (options[i + 1] != ':') {
        if (*rest == 0)
            $optind++;
        return c;
    }
    if (*rest != 0 || options[i + 2] == ':') {
        $optarg = *rest != 0 ? rest : 0;
        $optind++;
    } else if ($optind + 1 >= n) {
        $optind++;
        $optopt = c;
        rest = 0;
        return options[0] == ':' ? ':' : '?';
    } else {
        $optarg = v[$optind + 1];
        $optind += 2;
    }
    rest = 0;
    return c;
}

//@ getopt_long getopt_long_only
// Long options are not compared: any of the table may be the one.
extern char *$optarg;
extern int $optind, $opterr, $optopt;
struct $option { const char *name; int has_arg; int *flag; int val; };
int $getopt(int n, char *const v[], const char *options);
int $getopt_long(int n, char *const v[], const char *options, const struct $option *table, int *index)
{
    char *word;
    int i = 0;
    if ($optind >= n)
        return -1;
    if ($optind > 0) {
        word = v[$optind];
        if (word != 0 && word[0] == '-' && word[1] == '-' && word[2] != 0 && table != 0) {
            $optind++;
            $optarg = 0;
            while (table[i].name != 0 && $unknown_int() != 0)
                i++;
            if (table[i].name == 0) {
                $optopt = table[i].val;
                return '?';
            }
            if (index != 0)
                *index = i;
            if (table[i].has_arg != 0) {
                if ($optind < n && $unknown_int() != 0) {
                    $optarg = v[$optind];
                    $optind++;
                } else if ($unknown_int() != 0) {
                    $optarg = word + 2;
                }
                if (table[i].has_arg == 1 && $optarg == 0)
                    return '?';
            }
            if (table[i].flag != 0) {
                *table[i].flag = table[i].val;
                return 0;
            }
            return table[i].val;
        }
    }
    return $getopt(n, v, options);
}
int $getopt_long_only(int n, char *const v[], const char *options, const struct $option *table, int *index)
{
    return $getopt_long(n, v, options, table, index);
}

//@ pipe pipe2
int $pipe(int *fds)
{
    int a;
    int b;
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    a = $unknown_int();
    b = $unknown_int();
    fds[0] = a < 0 ? 3 : a;
    fds[1] = b < 0 || b == fds[0] ? fds[0] ^ 1 : b;
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
    $fill_string(to, 4096);
    return to;
}

//@ getcwd
void $fill_string(char *to, unsigned long n);
char *$getcwd(char *to, unsigned long n)
{
    if ($unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    if (to == 0) {
        if (n == 0)
            n = 4096;
        to = $malloc(n);
    } else if (n == 0) {
        $set_errno();
        return 0;
    }
    $fill_string(to, n);
    return to;
}

//@ strftime
void $fill_string(char *to, unsigned long n);
unsigned long $strftime(char *to, unsigned long n, const char *format, const void *tm)
{
    unsigned long k = $unknown_ulong();
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
    unsigned long k = $unknown_ulong();
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
// A directory is an object with the entry that was read last.
void *$opendir(const char *path)
{
    if ($unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    return $malloc(280);
}
void *$fdopendir(int fd)
{
    return $opendir(0);
}

//@ readdir
void *$readdir(void *d)
{
    $check_freeable(d);
    $writable(d, 280);
    if ($unknown_int() == 0)
        return 0;
    $scramble(d, 280);
    ((char *)d)[279] = 0;
    return d;
}

//@ closedir
int $closedir(void *d)
{
    $writable(d, 280);
    __builtin_free(d);
    return 0;
}

//@ rewinddir dirfd
void $rewinddir(void *d)
{
    $writable(d, 280);
}
int $dirfd(void *d)
{
    $writable(d, 280);
    return 3;
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

//@ twalk $walk_tree
struct $node { const void *key; struct $node *left, *right; };
void $walk_tree(const struct $node *at, void (*action)(const void *, int, int), int level)
{
    if (at->left == 0 && at->right == 0) {
        action(at, 3, level);
        return;
    }
    action(at, 0, level);
    if (at->left)
        $walk_tree(at->left, action, level + 1);
    action(at, 1, level);
    if (at->right)
        $walk_tree(at->right, action, level + 1);
    action(at, 2, level);
}
void $twalk(const void *root, void (*action)(const void *, int, int))
{
    if (root != 0 && action != 0)
        $walk_tree(root, action, 0);
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
// With one thread a lock is always free or held by the caller. What a mutex holds is the library's.
int $pthread_mutex_init(int *m, const void *attr)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
    return 0;
}
int $pthread_mutex_destroy(int *m)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
    return 0;
}
int $pthread_mutex_lock(int *m)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
    return 0;
}
int $pthread_mutex_trylock(int *m)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
    return $unknown_int() != 0 ? 16 : 0;
}
int $pthread_mutex_unlock(int *m)
{
    $writable(m, sizeof(long) == 8 ? 40 : 24);
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
    return 1;
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
