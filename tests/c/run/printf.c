// printf in detail.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <wchar.h>

int main(void)
{
    int values[] = { 0, 1, -1, 42, -12345, 2147483647 };
    const char *formats[] = { "%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.4d", "%-8.4d|", "%+05d", "%.0d|", "%x", "%#x", "%X", "%#o", "%o", "%u", "%08x", "%-#10x|", "%#.5x", "%c|" };
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (unsigned j = 0; j < 6; j++) {
            printf(formats[i], values[j]);
            printf(" ");
        }
        printf("\n");
    }
    double doubles[] = { 0, 1, -1, 0.1, 123456789, 1e-5, 1e10, 0.00012345, 9.9999995, 1e100, 5e-324, 999999.4 };
    const char *ff[] = { "%f", "%.0f", "%#.0f", "%.1f", "%12.3f|", "%-12.3f|", "%012.3f", "%+f", "%e", "%.0e", "%.3E", "%g", "%G", "%#g", "%.3g", "%.10g", "%20.15g|", "%a", "%.2a", "%.0a", "%A", "% g" };
    for (unsigned i = 0; i < sizeof ff / sizeof *ff; i++) {
        for (unsigned j = 0; j < sizeof doubles / sizeof *doubles; j++) {
            printf(ff[i], doubles[j]);
            printf(" ");
        }
        printf("\n");
    }
    long double longs[] = { 0, 1, 0.1L, 1e4000L, 3.6e-4950L, -2.5L };
    const char *lf[] = { "%Lf|", "%.3Le", "%Lg", "%La", "%.2La", "%.25Lg" };
    for (unsigned i = 1; i < sizeof lf / sizeof *lf; i++) {
        for (unsigned j = 0; j < sizeof longs / sizeof *longs; j++) {
            printf(lf[i], longs[j]);
            printf(" ");
        }
        printf("\n");
    }
    printf("%s|%10s|%-10s|%.2s|%10.1s|%s\n", "abc", "abc", "abc", "abc", "abc", "");
    printf("%c|%3c|%-3c|%%\n", 'x', 'y', 'z');
    printf("%hhd %hd %ld %lld %jd %zu %td\n", (signed char)-1, (short)-2, -3L, -4LL, (intmax_t)-5, (size_t)6, (ptrdiff_t)7);
    printf("%hhu %hu %lu %llu %lx\n", (unsigned char)255, (unsigned short)65535, 1UL << 40, ~0ULL, 0xabcdef0123L);
    printf("%" PRId64 " %" PRIx32 " %" PRIu8 "\n", INT64_MIN, UINT32_MAX, (uint8_t)7);
    int n = 0;
    printf("counted%n ", &n);
    printf("%d\n", n);
    printf("%*d|%-*d|%.*f|%*.*f\n", 6, 1, 6, 2, 3, 3.14159, 9, 2, 2.71828);
    printf("%*d|\n", -6, 5);
    printf("%p %d\n", (void *)0, printf("x"));
    printf("%ls %lc\n", L"wide", L'w');
    char buf[10];
    int r = snprintf(buf, sizeof buf, "%d %s", 12345, "overflowing");
    printf("%s %d\n", buf, r);
    r = snprintf(NULL, 0, "%f", 1.5);
    printf("%d\n", r);
    r = sprintf(buf, "%03d", 7);
    printf("%s %d\n", buf, r);
    fprintf(stdout, "to %s\n", "stdout");
    fprintf(stderr, "to stderr\n");
    fputs("fputs", stdout);
    fputc('\n', stdout);
    putchar('p');
    putc('q', stdout);
    puts("");
    fwrite("bytes\n", 1, 6, stdout);
    return 0;
}
