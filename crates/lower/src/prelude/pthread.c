// What threads use, with one thread.

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
