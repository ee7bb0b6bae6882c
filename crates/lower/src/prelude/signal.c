// Signals that a program sends to itself. Numbers and layouts are those of Linux.
//
// A handler that is installed may also run at a signal from outside, at any time. Where the program
// asks for such a signal or waits for one, it is not followed; that others stay away is assumed.

//@ signal bsd_signal sysv_signal __sysv_signal sigaction raise sigprocmask pthread_sigmask $run_abort $signal_caught
// A handler of null is the default action, 1 ignores the signal. Signals that are blocked wait.
int *$__errno_location(void);
struct $sigaction { void (*handler)(int); unsigned long long mask[16]; int flags; void (*restorer)(void); };
static void (*$signal_handlers[65])(int);
static int $signal_flags[65];
static unsigned long long $signal_masks[65];
static unsigned long long $blocked, $waiting;
int $signal_caught(int number)
{
    return $signal_handlers[number] != 0 && $signal_handlers[number] != (void (*)(int))1;
}
static int $may_catch(int number)
{
    if (number >= 1 && number <= 64 && number != 9 && number != 19)
        return 1;
    *$__errno_location() = 22;
    return 0;
}
// What a handler does at a mistake of the program itself is not followed: the run ends there.
static void $machine(int number, void (*handler)(int))
{
    if ((number == 4 || number == 5 || number == 7 || number == 8 || number == 11) && handler != 0
        && handler != (void (*)(int))1)
        $unmodelled();
}
static void (*$install(int number, void (*handler)(int), int flags))(int)
{
    void (*old)(int);
    if (!$may_catch(number))
        return (void (*)(int))-1;
    $machine(number, handler);
    old = $signal_handlers[number];
    $signal_handlers[number] = handler;
    $signal_flags[number] = flags;
    $signal_masks[number] = 0;
    return old;
}
void (*$signal(int number, void (*handler)(int)))(int)
{
    return $install(number, handler, 0x10000000);
}
void (*$bsd_signal(int number, void (*handler)(int)))(int)
{
    return $install(number, handler, 0x10000000);
}
void (*$sysv_signal(int number, void (*handler)(int)))(int)
{
    return $install(number, handler, (int)0xe0000000);
}
void (*$__sysv_signal(int number, void (*handler)(int)))(int)
{
    return $install(number, handler, (int)0xe0000000);
}
int $sigaction(int number, const void *new, void *old)
{
    struct $sigaction had;
    if (!$may_catch(number))
        return -1;
    $scramble(&had, sizeof had);
    had.handler = $signal_handlers[number];
    had.mask[0] = $signal_masks[number];
    // The library may add a flag of its own.
    had.flags = $signal_flags[number] | $unknown_int() & 0x04000000;
    if (new != 0) {
        const struct $sigaction *action = new;
        $machine(number, action->handler);
        $signal_handlers[number] = action->handler;
        $signal_masks[number] = action->mask[0];
        $signal_flags[number] = action->flags;
    }
    if (old != 0)
        *(struct $sigaction *)old = had;
    return 0;
}
// Runs what is to be done at a signal.
static void $handle(int number)
{
    void (*handler)(int) = $signal_handlers[number];
    int flags = $signal_flags[number];
    unsigned long long before = $blocked;
    if (handler == (void (*)(int))1)
        return;
    if (handler == 0) {
        // These are ignored by default; all others end the program or stop it for good.
        if (number != 17 && number != 18 && number != 23 && number != 28)
            __builtin_trap();
        return;
    }
    // Such a handler gets pointers to what the system knows about the signal.
    if (flags & 4)
        $unmodelled();
    if (!(flags & 0x40000000))
        $blocked |= 1ull << (number - 1);
    $blocked |= $signal_masks[number];
    if (flags & (int)0x80000000)
        $signal_handlers[number] = 0;
    handler(number);
    $blocked = before;
}
static void $handle_waiting(void)
{
    while (($waiting & ~$blocked) != 0) {
        int number = 1;
        while (!(($waiting & ~$blocked) >> (number - 1) & 1))
            number++;
        $waiting &= ~(1ull << (number - 1));
        $handle(number);
    }
}
int $raise(int number)
{
    if (number < 0 || number > 64) {
        *$__errno_location() = 22;
        return -1;
    }
    if (number == 0)
        return 0;
    if (number != 9 && number != 19 && $blocked >> (number - 1) & 1) {
        $waiting |= 1ull << (number - 1);
        return 0;
    }
    $handle(number);
    $handle_waiting();
    return 0;
}
int $pthread_sigmask(int how, const void *set, void *old)
{
    unsigned long long before = $blocked;
    if (set != 0) {
        unsigned long long chosen;
        $readable(set, 128);
        chosen = *(const unsigned long long *)set;
        if (how == 0)
            $blocked |= chosen;
        else if (how == 1)
            $blocked &= ~chosen;
        else if (how == 2)
            $blocked = chosen;
        else
            return 22;
    }
    if (old != 0) {
        $writable(old, 128);
        *(unsigned long long *)old = before;
    }
    $handle_waiting();
    return 0;
}
int $sigprocmask(int how, const void *set, void *old)
{
    int why = $pthread_sigmask(how, set, old);
    if (why == 0)
        return 0;
    *$__errno_location() = why;
    return -1;
}
void $run_abort(void)
{
    if ($signal_caught(6))
        $handle(6);
}

//@ sigemptyset sigfillset sigaddset sigdelset sigismember
// Two signals are the library's own.
static int $signal_bit(int number)
{
    if (number >= 1 && number <= 64 && number != 32 && number != 33)
        return 1;
    $set_errno();
    return 0;
}
int $sigemptyset(void *set)
{
    __builtin_memset(set, 0, 128);
    return 0;
}
int $sigfillset(void *set)
{
    __builtin_memset(set, 255, 128);
    *(unsigned long long *)set = ~(3ull << 31);
    return 0;
}
int $sigaddset(unsigned long long *set, int number)
{
    if (!$signal_bit(number))
        return -1;
    *set |= 1ull << (number - 1);
    return 0;
}
int $sigdelset(unsigned long long *set, int number)
{
    if (!$signal_bit(number))
        return -1;
    *set &= ~(1ull << (number - 1));
    return 0;
}
int $sigismember(const unsigned long long *set, int number)
{
    if (!$signal_bit(number))
        return -1;
    return (int)(*set >> (number - 1) & 1);
}

//@ kill killpg gsignal
int $raise(int number);
int $getpid(void);
int $kill(int process, int number)
{
    // Another process may be this one too, or send something back.
    if (process == $getpid() || process == 0 || $unknown_int())
        return $raise(number);
    return $unknown_int() ? -1 : 0;
}
int $killpg(int group, int number)
{
    return $kill(0, number);
}
int $gsignal(int number)
{
    return $raise(number);
}

//@ pause sigsuspend sigwait sigwaitinfo sigtimedwait setitimer timer_create ualarm alarm
// A signal arrives later, or is waited for.
int $signal_caught(int number);
unsigned $alarm(unsigned seconds)
{
    if ($signal_caught(14))
        $unmodelled();
    return $opaque_uint();
}
unsigned $ualarm(unsigned first, unsigned then)
{
    return $alarm(first);
}
int $pause(void)
{
    $unmodelled();
    return -1;
}
int $sigsuspend(const void *mask)
{
    $unmodelled();
    return -1;
}
int $sigwait(const void *set, int *number)
{
    $unmodelled();
    return 0;
}
int $sigwaitinfo(const void *set, void *info)
{
    $unmodelled();
    return 0;
}
int $sigtimedwait(const void *set, void *info, const void *timeout)
{
    $unmodelled();
    return 0;
}
int $setitimer(int which, const void *new, void *old)
{
    if ($signal_caught(14) || $signal_caught(26) || $signal_caught(27))
        $unmodelled();
    if ($unknown_int() != 0) {
        $set_errno();
        return -1;
    }
    if (old != 0) {
        $writable(old, 4 * sizeof(long));
        $scramble(old, 4 * sizeof(long));
    }
    return 0;
}
int $timer_create(int clock, void *event, void *timer)
{
    $unmodelled();
    return 0;
}
