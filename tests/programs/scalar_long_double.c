// 80-bit extended precision: arithmetic, memory, calls, conversions.
// flags: -lm
// expect: 0x8p-2
// expect: 0xa.aaaaaaaaaaaaaabp-5 -0xa.aaaaaaaaaaaaaaap-5 -0x8p-3
// expect: 33 333333333333333 0x1.5555555555555p-2 0x1.555556p-2
// expect: 0xf.fffffffffffffffp+60 -0xep-1
// expect: 0 1
// expect: 0x9.3cd3a2c8198e269p-4 0xa.aaaaaaaaaaaaaabp-5
// expect: 16
// expect: 1 1
#include <math.h>
#include <stdio.h>

static long double cells[3] = {1.0L, 2.0L, 3.0L};

static long double horner(long double x, const long double *c, int n) {
    long double r = 0;
    while (n-- > 0) r = r * x + c[n];
    return r;
}

int main(void) {
    volatile long double x = 1.0L / 3;
    printf("%La\n", horner(x, cells, 3));
    for (int i = 0; i < 3; i++) cells[i] = cells[i] * x - i;
    printf("%La %La %La\n", cells[0], cells[1], cells[2]);
    printf("%d %ld %a %a\n", (int)(x * 100), (long)(x * 1e15L), (double)x, (float)x);
    volatile unsigned long u = ~0UL;
    printf("%La %La\n", (long double)u, (long double)-7);
    printf("%d %d\n", x < cells[0], x == 1.0L / 3);
    printf("%La %La\n", sqrtl(x), fabsl(-x));
    printf("%zu\n", sizeof x);
    x = NAN;
    printf("%d %d\n", x != x, isnan(x) != 0);
    return 0;
}
