// Signals that a program sends to itself. Numbers and layouts are those of Linux.
//
// A handler that is installed may also run at a signal from outside, at any time. Where the program
// asks for such a signal or waits for one, it is not followed; that others stay away is assumed.

//@ signal bsd_signal sysv_signal __sysv_signal sigaction raise $run_abort $signal_caught
// A handler of null is the default action, 1 ignores the signal.
int *$__errno_location(void);
static void (*$signal_handlers[65])(int);
static int $signal_informed[65];
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
void (*$signal(int number, void (*handler)(int)))(int)
{
    void (*old)(int);
    if (!$may_catch(number))
        return (void (*)(int))-1;
    old = $signal_handlers[number];
    $signal_handlers[number] = handler;
    $signal_informed[number] = 0;
    return old;
}
void (*$bsd_signal(int number, void (*handler)(int)))(int)
{
    return $signal(number, handler);
}
void (*$sysv_signal(int number, void (*handler)(int)))(int)
{
    return $signal(number, handler);
}
void (*$__sysv_signal(int number, void (*handler)(int)))(int)
{
    return $signal(number, handler);
}
struct $sigaction { void (*handler)(int); unsigned char mask[128]; int flags; void (*restorer)(void); };
int $sigaction(int number, const void *new, void *old)
{
    void (*had)(int);
    int informed;
    if (!$may_catch(number))
        return -1;
    had = $signal_handlers[number];
    informed = $signal_informed[number];
    if (new != 0) {
        const struct $sigaction *action = new;
        $signal_handlers[number] = action->handler;
        $signal_informed[number] = action->flags & 4;
    }
    if (old != 0) {
        struct $sigaction *action = old;
        __builtin_memset(action, $unknown_int(), sizeof *action);
        action->handler = had;
        action->flags = informed;
    }
    return 0;
}
int $raise(int number)
{
    void (*handler)(int);
    if (number < 0 || number > 64) {
        *$__errno_location() = 22;
        return -1;
    }
    handler = number == 0 ? (void (*)(int))1 : $signal_handlers[number];
    if (handler == (void (*)(int))1)
        return 0;
    if (handler == 0) {
        // These are ignored by default; all others end the program or stop it for good.
        if (number != 17 && number != 18 && number != 23 && number != 28)
            __builtin_trap();
        return 0;
    }
    // Such a handler gets pointers to what the system knows about the signal.
    if ($signal_informed[number])
        $unmodelled();
    handler(number);
    return 0;
}
void $run_abort(void)
{
    if ($signal_caught(6))
        $raise(6);
}

//@ kill killpg gsignal
int $raise(int number);
int getpid(void);
int $kill(int process, int number)
{
    // Another process may be this one too, or send something back.
    if (process == getpid() || process == 0 || $unknown_int())
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

//@ pause sigsuspend sigwait sigwaitinfo sigtimedwait setitimer timer_create sigqueue ualarm alarm
// A signal arrives later, or is waited for.
int $signal_caught(int number);
unsigned $alarm(unsigned seconds)
{
    if ($signal_caught(14))
        $unmodelled();
    return (unsigned)$unknown_int();
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
    return $unknown_int() ? -1 : 0;
}
int $timer_create(int clock, void *event, void *timer)
{
    $unmodelled();
    return 0;
}
int $sigqueue(int process, int number, void *value)
{
    $unmodelled();
    return 0;
}
