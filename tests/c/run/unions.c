// Unions, bit-fields, packed records, and looking at bytes.
#include <stdio.h>
#include <string.h>
#include <stdint.h>

union number { float f; uint32_t u; unsigned char b[4]; };
struct bits { int a : 3; unsigned b : 5; unsigned : 0; signed char c : 4; long long d : 50; _Bool e : 1; };
struct __attribute__((packed)) tight { char a; int b; short c; };
struct outer { int tag; union { int i; double d; struct { char x, y; }; }; };
typedef struct { unsigned lo : 16, hi : 16; } halves;

int main(void)
{
    union number n = { .f = -1.5f };
    printf("%08x %02x %02x\n", n.u, n.b[0], n.b[3]);
    n.u = 0x40490fdb;
    printf("%.6f\n", n.f);
    struct bits s = { 0 };
    s.a = -1;
    s.b = 31;
    s.c = 7;
    s.d = -123456789012345LL;
    s.e = 1;
    s.b += 2;
    s.c++;
    printf("%d %u %d %lld %d %zu\n", s.a, s.b, s.c, (long long)s.d, s.e, sizeof s);
    unsigned char raw[sizeof s];
    memcpy(raw, &s, sizeof s);
    printf("%02x %02x\n", raw[0], raw[4] & 15);
    struct tight t = { 'q', 0x01020304, -2 };
    unsigned char *p = (unsigned char *)&t;
    for (size_t i = 0; i < sizeof t; i++)
        printf("%02x ", p[i]);
    printf("%zu\n", sizeof t);
    struct outer o = { 1, .d = 2.0 };
    printf("%g ", o.d);
    o.x = 3;
    o.y = 4;
    printf("%d %d %zu\n", o.x + o.y, o.tag, sizeof o);
    halves h;
    uint32_t word = 0xdeadbeef;
    memcpy(&h, &word, 4);
    printf("%x %x\n", h.hi, h.lo);
    double d = 1.0;
    uint64_t u;
    memcpy(&u, &d, 8);
    u += 1ull << 52;
    memcpy(&d, &u, 8);
    printf("%g\n", d);
    int *ptrs[2], x = 5, y = 6;
    ptrs[0] = &x;
    ptrs[1] = &y;
    int *swapped[2];
    memcpy(&swapped[0], &ptrs[1], sizeof(int *));
    memcpy(&swapped[1], &ptrs[0], sizeof(int *));
    printf("%d %d\n", *swapped[0], *swapped[1]);
    uintptr_t addr = (uintptr_t)&x;
    *(int *)addr += 10;
    printf("%d\n", x);
    return 0;
}
