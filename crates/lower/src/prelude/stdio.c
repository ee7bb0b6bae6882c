// Streams and input. A stream is an object of its own: it is made by `fopen` and dies with `fclose`, so
// that a closed stream is a dangling pointer. Standard input is a sequence of inputs of the program, one
// for each character; what other streams give is not known.

//@ stdin stdout stderr $std_in $std_out $std_err
// The descriptor comes first: the interpreter writes by it. `back` is the character that was put back.
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
struct $file $std_in = { 0, 0, 0, -1 };
struct $file $std_out = { 1, 0, 0, -1 };
struct $file $std_err = { 2, 0, 0, -1 };
struct $file *$stdin = &$std_in;
struct $file *$stdout = &$std_out;
struct $file *$stderr = &$std_err;

//@ $check_string
void $check_string(const char *s)
{
    unsigned long i = 0;
    while (s[i] != 0)
        i++;
}

//@ $check_string_within
// As `%.5s` reads: at most `n` characters, less if the string ends before.
void $check_string_within(const char *s, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && s[i] != 0)
        i++;
}

//@ $check_wide_string
void $check_wide_string(const int *s)
{
    unsigned long i = 0;
    while (s[i] != 0)
        i++;
}

//@ $check_open
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
extern struct $file $std_in, $std_out, $std_err;
void $check_open(void *p)
{
    struct $file *f = p;
    int fd;
    if (f != &$std_in && f != &$std_out && f != &$std_err)
        $check_freeable(f);
    fd = f->fd;
    $check_free(fd >= 0);
}

//@ $fill_some
void $fill_some(void *to, unsigned long n)
{
    unsigned long k = $unknown_ulong();
    if (k > n)
        k = n;
    $writable(to, k);
    $scramble(to, k);
}

//@ $fill_string
void $fill_string(char *to, unsigned long n)
{
    unsigned long k = $unknown_ulong();
    if (n == 0)
        return;
    if (k >= n)
        k = n - 1;
    $writable(to, k + 1);
    $scramble(to, k);
    to[k] = 0;
}

//@ $library_string
// Some text in memory of the library.
char *$library_string(void)
{
    static char text[1024];
    unsigned long k = $unknown_ulong();
    $scramble(text, 1024);
    text[k < 1023 ? k : 1023] = 0;
    return text;
}

//@ $new_file
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
struct $file *$open_files;
int $new_descriptor(void);
void *$new_file(void)
{
    struct $file *f;
    if ($unknown_int() == 0) {
        $set_errno();
        return 0;
    }
    f = $malloc(sizeof *f);
    f->fd = $new_descriptor();
    f->eof = 0;
    f->error = 0;
    f->back = -1;
    f->next = $open_files;
    f->link = &$open_files;
    if (f->next)
        f->next->link = &f->next;
    $open_files = f;
    return f;
}

//@ fopen fopen64
void *$new_file(void);
void *$fopen(const char *path, const char *mode)
{
    return $new_file();
}
void *$fopen64(const char *path, const char *mode)
{
    return $new_file();
}

//@ fdopen
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
void *$new_file(void);
void *$fdopen(int fd, const char *mode)
{
    struct $file *f = fd < 0 ? 0 : $new_file();
    if (f)
        f->fd = fd;
    return f;
}

//@ popen
void *$new_file(void);
void *$popen(const char *command, const char *mode)
{
    return $new_file();
}

//@ tmpfile
void *$new_file(void);
void *$tmpfile(void)
{
    return $new_file();
}

//@ freopen
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $fclose(void *f);
void *$freopen(const char *path, const char *mode, void *p)
{
    struct $file *f = p;
    if ($unknown_int() == 0) {
        $set_errno();
        $fclose(f);
        return 0;
    }
    f->eof = 0;
    f->error = 0;
    f->back = -1;
    return f;
}

//@ fclose
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
void $descriptor_closed(void);
int $fclose(void *p)
{
    struct $file *f = p;
    f->fd = -1;
    $descriptor_closed();
    if (f->link) {
        *f->link = f->next;
        if (f->next)
            f->next->link = f->link;
        __builtin_free(f);
    }
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    return 0;
}

//@ pclose
int $fclose(void *f);
int $pclose(void *f)
{
    $fclose(f);
    return $unknown_int();
}

//@ setbuf
int $setvbuf(void *f, void *buffer, int mode, unsigned long n);
void $setbuf(void *f, void *buffer)
{
    $setvbuf(f, buffer, 0, 8192);
}

//@ setvbuf
// From now on anything may be in the buffer at any time: that is not followed.
int $setvbuf(void *f, void *buffer, int mode, unsigned long n)
{
    if (mode < 0 || mode > 2)
        return -1;
    if (buffer && mode != 2) {
        $writable(buffer, n);
        $unmodelled();
    }
    return $unknown_int();
}

//@ $follows_scan
// No run goes on with a character that cannot stand where `scanf` stopped.
extern int $after_scan;
void $follows_scan(int c)
{
    int blank = c == ' ' || c >= 9 && c <= 13;
    int word = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '+' || c == '-' || c == '.'
        || c == '_' || c == '(';
    if ($after_scan == 1 && word || $after_scan == 2 || $after_scan == 3 && blank || $after_scan == 4 && !blank && c >= 0)
        $opaque_int();
    $after_scan = 0;
}

//@ fgetc getc _IO_getc getc_unlocked fgetc_unlocked
void $follows_scan(int c);
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $fgetc(void *p)
{
    struct $file *f = p;
    int c = f->back;
    if (c >= 0) {
        f->back = -1;
        return c;
    }
    if (f->eof)
        return -1;
    if (f->fd == 0) {
        c = $input_int();
        if (c < 0 || c > 255)
            c = -1;
    } else {
        c = $unknown_int();
        c = 1 <= c && c <= 256 ? c - 1 : -1;
    }
    $follows_scan(c);
    if (c < 0) {
        if ($unknown_int() != 0) {
            f->error = 1;
            $set_errno();
        } else {
            f->eof = 1;
        }
    }
    return c;
}
int $getc(void *f)
{
    return $fgetc(f);
}
int $_IO_getc(void *f)
{
    return $fgetc(f);
}
int $getc_unlocked(void *f)
{
    return $fgetc(f);
}
int $fgetc_unlocked(void *f)
{
    return $fgetc(f);
}

//@ getchar getchar_unlocked
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
extern struct $file $std_in;
int $fgetc(void *f);
int $getchar(void)
{
    return $fgetc(&$std_in);
}
int $getchar_unlocked(void)
{
    return $fgetc(&$std_in);
}

//@ $scan_begins $scan_goes_on $scan_ends $after_scan $pushed_back $scanned
// What `scanf` reads is not taken from the stream: what was put back is not seen, and the end of the
// input is not remembered. What is known of the next character: 1: it continues no number; 2: something that is not
// told; 3: it is not white space; 4: it is white space.
int $after_scan;
int $pushed_back;
int $scanned;
void $scan_goes_on(int next)
{
    $after_scan = next;
}
void $scan_ends(int next)
{
    if ($after_scan != 2)
        $after_scan = next;
}
void $scan_begins(void)
{
    if ($pushed_back)
        $unmodelled();
    $scanned = 1;
}

//@ ungetc
extern int $pushed_back;
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $ungetc(int c, void *p)
{
    struct $file *f = p;
    if (c == -1)
        return -1;
    // There may be room for more than the one that is promised.
    if (f->back >= 0)
        $unmodelled();
    f->back = (unsigned char)c;
    f->eof = 0;
    $pushed_back = 1;
    return (unsigned char)c;
}

//@ fgets fgets_unlocked
int $fgetc(void *f);
char *$fgets(char *to, int n, void *f)
{
    int i = 0;
    int c = -1;
    if (n <= 0)
        return 0;
    while (i < n - 1) {
        c = $fgetc(f);
        if (c < 0)
            break;
        to[i] = (char)c;
        i++;
        if (c == '\n')
            break;
    }
    if (i == 0 && n > 1)
        return 0;
    to[i] = 0;
    return to;
}
char *$fgets_unlocked(char *to, int n, void *f)
{
    return $fgets(to, n, f);
}

//@ gets
int $getchar(void);
char *$gets(char *to)
{
    unsigned long i = 0;
    int c = $getchar();
    if (c < 0)
        return 0;
    while (c >= 0 && c != '\n') {
        to[i] = (char)c;
        i++;
        c = $getchar();
    }
    to[i] = 0;
    return to;
}

//@ getdelim getline
int $fgetc(void *f);
void *$realloc(void *p, unsigned long n);
long $getdelim(char **line, unsigned long *size, int delimiter, void *f)
{
    unsigned long n = 0;
    unsigned long have = *size;
    char *to = *line;
    int c;
    if (to == 0 || have == 0) {
        have = 120;
        to = $realloc(to, have);
        *line = to;
        *size = have;
    }
    for (;;) {
        c = $fgetc(f);
        if (c < 0)
            break;
        if (n + 1 >= have) {
            have = 2 * have;
            to = $realloc(to, have);
            *line = to;
            *size = have;
        }
        to[n] = (char)c;
        n++;
        if (c == delimiter)
            break;
    }
    if (n == 0)
        return -1;
    to[n] = 0;
    return (long)n;
}
long $getline(char **line, unsigned long *size, void *f)
{
    return $getdelim(line, size, '\n', f);
}

//@ fread fread_unlocked
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
unsigned long $fread(void *to, unsigned long size, unsigned long n, void *p)
{
    struct $file *f = p;
    unsigned long k = $unknown_ulong();
    if (size == 0 || n == 0)
        return 0;
    // A character that was put back comes first.
    if (f->back >= 0)
        $unmodelled();
    if (k > n)
        k = n;
    if (k < n) {
        if ($unknown_int() != 0) {
            f->error = 1;
            $set_errno();
        } else {
            f->eof = 1;
        }
    }
    $writable(to, k * size);
    $scramble(to, k * size);
    return k;
}
unsigned long $fread_unlocked(void *to, unsigned long size, unsigned long n, void *f)
{
    return $fread(to, size, n, f);
}

//@ read
long $read(int fd, void *to, unsigned long n)
{
    long k = $unknown_long();
    if (k < 0) {
        $set_errno();
        return -1;
    }
    if ((unsigned long)k > n)
        k = (long)n;
    $writable(to, (unsigned long)k);
    $scramble(to, (unsigned long)k);
    return k;
}

//@ pread
long $read(int fd, void *to, unsigned long n);
long $pread(int fd, void *to, unsigned long n, long offset)
{
    return $read(fd, to, n);
}

//@ recv
long $read(int fd, void *to, unsigned long n);
long $recv(int fd, void *to, unsigned long n, int flags)
{
    return $read(fd, to, n);
}

//@ feof feof_unlocked
extern int $scanned;
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $feof(void *p)
{
    struct $file *f = p;
    if ($scanned && !f->eof)
        return $opaque_int();
    return f->eof;
}
int $feof_unlocked(void *f)
{
    return $feof(f);
}

//@ ferror ferror_unlocked
// An earlier output may have failed.
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $ferror(void *p)
{
    struct $file *f = p;
    if (f->fd != 0 && $unknown_int() != 0)
        f->error = 1;
    return f->error;
}
int $ferror_unlocked(void *f)
{
    return $ferror(f);
}

//@ clearerr
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
void $clearerr(void *p)
{
    struct $file *f = p;
    f->eof = 0;
    f->error = 0;
}

//@ fileno fileno_unlocked
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $fileno(void *p)
{
    struct $file *f = p;
    return f->fd;
}
int $fileno_unlocked(void *f)
{
    return $fileno(f);
}

//@ fseek fseeko
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
int $fseek(void *p, long offset, int whence)
{
    struct $file *f = p;
    if ($unknown_int() == 0) {
        $set_errno();
        return -1;
    }
    f->eof = 0;
    f->back = -1;
    return 0;
}
int $fseeko(void *f, long offset, int whence)
{
    return $fseek(f, offset, whence);
}

//@ rewind
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
void $rewind(void *p)
{
    struct $file *f = p;
    f->eof = 0;
    f->error = 0;
    f->back = -1;
    $set_errno();
}

//@ tmpnam ctermid
char *$library_string(void);
void $fill_string(char *to, unsigned long n);
char *$tmpnam(char *to)
{
    if (to == 0)
        return $library_string();
    $fill_string(to, 20);
    return to;
}
char *$ctermid(char *to)
{
    if (to == 0)
        return $library_string();
    $fill_string(to, 9);
    return to;
}

//@ vasprintf
// The text is what the native function makes of it; here only its place is found.

int $direct_vsnprintf(char *to, unsigned long n, const char *format, __builtin_va_list list);
int $vasprintf(char **to, const char *format, __builtin_va_list list)
{
    __builtin_va_list again;
    int n;
    char *text;
    __builtin_va_copy(again, list);
    n = $direct_vsnprintf(0, 0, format, again);
    __builtin_va_end(again);
    if (n < 0 || $unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    text = $malloc((unsigned long)n + 1);
    $direct_vsnprintf(text, (unsigned long)n + 1, format, list);
    *to = text;
    return n;
}

//@ asprintf
int $vasprintf(char **to, const char *format, __builtin_va_list list);
int $asprintf(char **to, const char *format, ...)
{
    __builtin_va_list list;
    int n;
    __builtin_va_start(list, format);
    n = $vasprintf(to, format, list);
    __builtin_va_end(list);
    return n;
}

//@ $scan_string
extern int $after_scan;
// As `%5s` stores: up to `width` characters that are not white space, and a zero.
void $scan_string(char *to, unsigned long width)
{
    unsigned long i = 0;
    while (i < width) {
        int c = $input_int();
        int blank = c == ' ' || c >= 9 && c <= 13 || c < 0 || c > 255;
        if (i > 0 && blank)
            break;
        to[i] = (char)(blank ? 'a' : c);
        i++;
    }
    to[i] = 0;
    $after_scan = i < width ? 4 : 0;
}

//@ $scan_set
// As `%5[a-z]` stores: characters of a range, or all but those.
extern int $after_scan;
void $follows_scan(int c);
void $scan_set(char *to, unsigned long width, int low, int high, int others)
{
    unsigned long i = 0;
    while (i < width) {
        int c = $input_int();
        if (c < 0 || c > 255 || (c >= low && c <= high) == others) {
            if (i > 0)
                break;
            c = !others ? low : low == 'a' ? 'b' : 'a';
        }
        if (i == 0)
            $follows_scan(c);
        to[i] = (char)c;
        i++;
    }
    to[i] = 0;
    $after_scan = 2;
}

//@ fgetwc getwc
struct $file { int fd; int eof; int error; int back; struct $file *next; struct $file **link; };
unsigned $fgetwc(void *p)
{
    struct $file *f = p;
    unsigned c = $unknown_uint();
    if (c == ~0u)
        f->eof = 1;
    return c;
}
unsigned $getwc(void *f)
{
    return $fgetwc(f);
}

//@ getwchar
unsigned $getwchar(void)
{
    return $unknown_uint();
}

//@ $check_optional_string
void $check_string(const char *s);
void $check_optional_string(const char *s)
{
    if (s != 0)
        $check_string(s);
}

//@ $text_length
unsigned long $text_length(const char *s)
{
    unsigned long i = 0;
    while (s[i] != 0)
        i++;
    return i;
}

//@ $text_length_within
unsigned long $text_length_within(const char *s, unsigned long n)
{
    unsigned long i = 0;
    while (i < n && s[i] != 0)
        i++;
    return i;
}

//@ $signed_length $unsigned_length $hex_length $octal_length
// How many characters a number takes.
unsigned long $unsigned_length(unsigned long long x)
{
    return 1ul + (x >= 10ull) + (x >= 100ull) + (x >= 1000ull) + (x >= 10000ull) + (x >= 100000ull)
        + (x >= 1000000ull) + (x >= 10000000ull) + (x >= 100000000ull) + (x >= 1000000000ull)
        + (x >= 10000000000ull) + (x >= 100000000000ull) + (x >= 1000000000000ull)
        + (x >= 10000000000000ull) + (x >= 100000000000000ull) + (x >= 1000000000000000ull)
        + (x >= 10000000000000000ull) + (x >= 100000000000000000ull)
        + (x >= 1000000000000000000ull) + (x >= 10000000000000000000ull);
}
unsigned long $signed_length(long long x)
{
    return x < 0 ? 1 + $unsigned_length(-(unsigned long long)x) : $unsigned_length((unsigned long long)x);
}
unsigned long $hex_length(unsigned long long x)
{
    unsigned long n = 1;
    int i;
    for (i = 4; i < 64; i += 4)
        if (x >> i != 0)
            n++;
    return n;
}
unsigned long $octal_length(unsigned long long x)
{
    unsigned long n = 1;
    int i;
    for (i = 3; i < 64; i += 3)
        if (x >> i != 0)
            n++;
    return n;
}

//@ $check_format
// Walks through a format with its arguments, which lie in slots of 16 bytes.
void $check_string(const char *s);
void $check_wide_string(const int *s);
void $check_string_within(const char *s, unsigned long n);
void $check_format(const char *format, char *area)
{
    unsigned long i = 0;
    while (format[i] != 0) {
        unsigned long most = ~0ul;
        int size = 4;
        if (format[i] != '%') {
            i++;
            continue;
        }
        i++;
        while (format[i] == '-' || format[i] == '+' || format[i] == ' ' || format[i] == '#'
               || format[i] == '0' || format[i] == '\'')
            i++;
        if (format[i] == '*') {
            i++;
            area += 16;
        } else {
            while (format[i] >= '0' && format[i] <= '9')
                i++;
        }
        if (format[i] == '.') {
            i++;
            most = 0;
            if (format[i] == '*') {
                int n = *(int *)area;
                i++;
                area += 16;
                most = n < 0 ? ~0ul : (unsigned long)n;
            } else {
                while (format[i] >= '0' && format[i] <= '9') {
                    most = 10 * most + (unsigned long)(format[i] - '0');
                    i++;
                }
            }
        }
        while (format[i] == 'h' || format[i] == 'l' || format[i] == 'q' || format[i] == 'j'
               || format[i] == 'z' || format[i] == 't' || format[i] == 'L') {
            size = format[i] == 'h' ? size / 2 : 8;
            i++;
        }
        if (format[i] == 's') {
            if (size == 8)
                $check_wide_string(*(const int **)area);
            else if (most == ~0ul)
                $check_string(*(const char **)area);
            else
                $check_string_within(*(const char **)area, most);
        } else if (format[i] == 'n') {
            $writable(*(void **)area, (unsigned long)size);
        } else if (format[i] == '$') {
            $unmodelled();
        }
        if (format[i] == 0)
            break;
        if (format[i] != '%' && format[i] != 'm')
            area += 16;
        i++;
    }
}

//@ $copy_text
void $copy_text(char *to, unsigned long width, unsigned long limit)
{
    unsigned long k = $opaque_ulong();
    if (k > width)
        k = width;
    if (k > limit)
        k = limit;
    $writable(to, k + 1);
    $scramble(to, k);
    to[k] = 0;
}

//@ $read_bytes
extern int $after_scan;
void $follows_scan(int c);
void $read_bytes(char *to, unsigned long n)
{
    unsigned long i;
    for (i = 0; i < n; i++) {
        int c = (unsigned char)$input_int();
        if (i == 0) {
            if ($after_scan == 3 && (c == ' ' || c >= 9 && c <= 13))
                c = 'a';
            $follows_scan(c);
        }
        to[i] = (char)c;
    }
}
