// The string functions of the C library.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void)
{
    char buf[64] = "hello";
    strcat(buf, ", world");
    printf("%s %zu\n", buf, strlen(buf));
    printf("%d %d %d\n", sign(strcmp("abc", "abd")), strcmp("x", "x"), sign(strncmp("abcz", "abca", 3)));
    printf("%s %s\n", strchr(buf, 'w'), strrchr(buf, 'l'));
    printf("%s\n", strstr(buf, "lo, w"));
    printf("%zu %zu %s\n", strspn("aabbc", "ab"), strcspn("hello", "l"), strpbrk("hello", "xyl"));
    char *copy = strdup(buf);
    for (char *p = copy; *p; p++)
        *p = toupper((unsigned char)*p);
    puts(copy);
    memmove(copy + 2, copy, 5);
    printf("%.7s\n", copy);
    printf("%d\n", memcmp("abc", "abd", 2));
    char *save = NULL;
    char list[] = "one two,three";
    for (char *t = strtok(list, " ,"); t; t = strtok(save, " ,"))
        printf("[%s]", t);
    printf("\n");
    free(copy);
    char n[32];
    memset(n, 'z', sizeof n - 1);
    n[31] = 0;
    strncpy(n, "ab", 4);
    printf("%d %d %c\n", n[2], n[3], n[4]);
    printf("%d %ld %lu %d\n", atoi("  -42x"), strtol("0x1f", NULL, 0), strtoul("777", NULL, 8), atoi("9"));
    char *end;
    long v = strtol("123abc", &end, 10);
    printf("%ld %s\n", v, end);
    int digits = 0, spaces = 0, alphas = 0;
    for (int c = 0; c < 128; c++) {
        digits += isdigit(c) != 0;
        spaces += isspace(c) != 0;
        alphas += isalpha(c) != 0;
    }
    printf("%d %d %d %c%c\n", digits, spaces, alphas, tolower('Q'), toupper('q'));
    return 3;
}
