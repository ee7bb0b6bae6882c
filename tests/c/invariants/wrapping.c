// Arithmetic that leaves its type: narrow and wide, signed and unsigned.
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern long long __VERIFIER_nondet_longlong(void);

int byte(void) {
    unsigned char c = 250;
    signed char s = 120;
    int n = 0;
    while (/*@,*/ __VERIFIER_nondet_int() % 50 != 0) {
        c++;
        s = s + 3;
        n = n + 1;
    }
    return c + s + n;
}

int product(int x) {
    int y = x;
    while (/*@,*/ x > 0 && y != 0) {
        x = x * 3 + 1;
        y = y * 5;
    }
    return x;
}

unsigned below(unsigned n) {
    unsigned i = n + 5, k = 0;
    while (/*@,*/ i > n) {
        i = i - 1;
        k = k + 2;
        if (k > 1000)
            break;
    }
    return i - k;
}

long long wide(long long a, int b) {
    long long sum = 0;
    unsigned short s = 65530;
    for (int i = 0; /*@,*/ i < 20; i++) {
        sum += a;
        a = a + b;
        s = s + 1;
        b = -b;
    }
    return sum + s;
}

int mixed(int i, unsigned u) {
    int rounds = 0;
    while (/*@,*/ i < u && rounds < 30) {
        i = i + 1000000000;
        u = u - 7;
        rounds++;
    }
    return rounds;
}

int shifts(unsigned x) {
    int bits = 0;
    while (/*@,*/ x != 0) {
        x = x & (x - 1);
        bits++;
    }
    return bits;
}

int main(void) {
    byte();
    product(__VERIFIER_nondet_int());
    below(__VERIFIER_nondet_uint());
    below(4294967293u);
    wide(__VERIFIER_nondet_longlong(), __VERIFIER_nondet_int());
    mixed(__VERIFIER_nondet_int(), __VERIFIER_nondet_uint());
    shifts(__VERIFIER_nondet_uint());
    return 0;
}
