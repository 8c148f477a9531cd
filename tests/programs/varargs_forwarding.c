// A va_list handed on: to vprintf, to an own function, copied, walked twice.
// expect: log: key=12 3.142 z 2.5
// expect: 19
// expect: [00042|ab    |  0.67|deadbeefcafe] 34
// expect: 1023456
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int logf_(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("log: ", stdout);
    int n = vprintf(fmt, ap);
    va_end(ap);
    return n;
}

static char *format(const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = malloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return s;
}

static int next(va_list *ap) { return va_arg(*ap, int); }
static int take(va_list ap, int n) { int t = 0; while (n--) t = t * 10 + va_arg(ap, int); return t; }

static int walk(int n, ...) {
    va_list ap, bp;
    va_start(ap, n);
    int first = next(&ap);
    va_copy(bp, ap);
    int a = take(ap, n - 1), b = take(bp, n - 1);
    va_end(bp);
    va_end(ap);
    return first * 1000000 + (a == b ? a : -1);
}

int main(void) {
    int n = logf_("%s=%d %.3f %c %Lg\n", "key", 12, 3.14159, 'z', 2.5L);
    printf("%d\n", n);
    char *s = format("[%05d|%-6s|%6.2f|%llx]", 42, "ab", 2.0 / 3, 0xdeadbeefcafeULL);
    printf("%s %zu\n", s, strlen(s));
    free(s);
    printf("%d\n", walk(6, 1, 2, 3, 4, 5, 6));
    return 0;
}
