// Globals, pointers, fields, arrays, calls that change things, names that hide each other.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assert(int);

int counter;
static int limit = 10;
int seen[4];
struct pair { int left; short right; unsigned flag : 3; } state;

static void bump(void) { counter = counter + 1; }
static void reset(int *p) { *p = 0; }
static void (*hook)(void) = bump;

int globals(void) {
    counter = 0;
    while (/*@,*/ counter < limit) {
        bump();
        if (__VERIFIER_nondet_int() == 3)
            limit = limit - 1;
    }
    return counter;
}

int through_pointer(int n) {
    int i = 0, other = 5;
    int *p = &i;
    while (/*@,*/ i < n) {
        *p = *p + 1;
        if (__VERIFIER_nondet_int() % 4 == 0)
            reset(p);
        if (other++ > 60)
            break;
    }
    return i;
}

int fields(int n) {
    struct pair local;
    local.left = 1;
    local.right = 2;
    local.flag = 0;
    state.left = 0;
    for (int k = 0; /*@,*/ k < n; k++) {
        local.left = local.left + 1;
        local.right = local.right - 1;
        local.flag = local.flag + 1;
        state.left = state.left + 2;
        state.flag = local.flag;
    }
    return local.left + local.right;
}

int arrays(int n) {
    int a[3] = {1, 2, 3};
    int i;
    for (i = 0; /*@,*/ i < n; i++) {
        a[1] = a[1] + 1;
        a[i % 3] = i;
        seen[2] = i;
    }
    return a[1] + seen[2];
}

int hiding(int n) {
    int x = n;
    static int calls;
    calls++;
    if (x > 0) {
        int x = 0;
        while (/*@,*/ x < 5) {
            int n = x + 100;
            x = n - 99;
        }
        __VERIFIER_assert(x == 5);
    }
    while (/*@,*/ x > 0) {
        x = x - 3;
        (*hook)();
    }
    return x + calls;
}

int again(int n) {
    int i = 0;
    if (n <= 0)
        return 0;
head:
    /*@;*/ i = i + 1;
    if (i < n)
        goto head;
    return i + again(n - 5);
}

int lock;

int protocol(int n) {
    int old, new = n;
    lock = 0;
    do {
        /*@;*/ __VERIFIER_assert(lock == 0);
        lock = 1;
        old = new;
        if (__VERIFIER_nondet_int() % 3) {
            lock = 0;
            new++;
        }
    } while (new != old);
    __VERIFIER_assert(lock == 1);
    return 0;
}

int main(void) {
    int n = __VERIFIER_nondet_int() % 30;
    globals();
    through_pointer(n);
    fields(n);
    arrays(n);
    hiding(n);
    hiding(n + 1);
    again(n);
    protocol(n);
    return 0;
}
