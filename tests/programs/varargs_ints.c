// Variadic integers and pointers, more than fit in registers.
// expect: 0
// expect: 18
// expect: 398574
// expect: <a><-1><-5000000000><str><42><b><7><1099511627776><end><42>
#include <stdarg.h>
#include <stdio.h>

static long sum(int n, ...) {
    va_list ap;
    long t = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++) t = t * 3 + va_arg(ap, int);
    va_end(ap);
    return t;
}

static void show(const char *kinds, ...) {
    va_list ap;
    va_start(ap, kinds);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'c': printf("<%c>", va_arg(ap, int)); break;
        case 'i': printf("<%d>", va_arg(ap, int)); break;
        case 'l': printf("<%ld>", va_arg(ap, long)); break;
        case 's': printf("<%s>", va_arg(ap, char *)); break;
        case 'p': printf("<%d>", *va_arg(ap, int *)); break;
        }
    va_end(ap);
    putchar('\n');
}

int main(void) {
    int x = 42;
    printf("%ld\n", sum(0));
    printf("%ld\n", sum(3, 1, 2, 3));
    printf("%ld\n", sum(12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    show("cilspcilsp", 'a', -1, -5000000000L, "str", &x, 'b', 7, 1L << 40, "end", &x);
    return 0;
}
