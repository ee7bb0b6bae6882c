// Clocks and dates.

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

//@ clock
// The time that the program has used: it does not go back.
long $clock(void)
{
    static int asked;
    long t = asked ? $opaque_long() : $unknown_long();
    asked = 1;
    return t < -1 ? -1 : t;
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
