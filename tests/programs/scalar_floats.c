// float and double arithmetic, comparisons with NaN, conversions both ways.
// flags: -lm
// expect: 0x1.6c7cdp+2 0x1.6c7cc4c14278cp+3
// expect: -0x1.28f5cp-1
// expect: 010000
// expect: 1 1 1
// expect: 0x0p+0 -0x0p+0
// expect: 2 3990000000 -1000000000000000000 18000000000000000000
// expect: 0x1p+53 0x1p+64 0x1p+53
// expect: 0x1.19999ap+1 0x1.19999ap+0
// expect: 0x1.cccccccccccc8p-1 0x1.7bb598c88b4adp+0 0x1.deb851b851ebap+1
// expect: -0x1.8p+1 -0x1p+1 -0x1p+1 0x1.8p+1
#include <float.h>
#include <math.h>
#include <stdio.h>

static volatile float f = 1.1f;
static volatile double d = 2.2;

static float mixf(float a, double b, int c) { return a * (float)b - (float)c; }

int main(void) {
    float s = 0;
    for (int i = 1; i < 100; i++) s += f / (float)i;
    double t = 0;
    for (int i = 1; i < 100; i++) t += d / i;
    printf("%a %a\n", s, t);
    printf("%a\n", mixf(f, d, 3));
    volatile double nan = NAN, inf = INFINITY, zero = 0.0;
    printf("%d%d%d%d%d%d\n", nan == nan, nan != nan, nan < 1, nan > 1, nan <= 1, nan >= 1);
    printf("%d %d %d\n", inf > DBL_MAX, -inf < -DBL_MAX, signbit(-zero) != 0);
    printf("%a %a\n", 1 / inf, 1 / -inf);
    printf("%d %u %ld %lu\n", (int)d, (unsigned)3.99e9, (long)-1e18, (unsigned long)1.8e19);
    volatile long big = 9007199254740993L;
    volatile unsigned long ub = 0xfffffffffffffc01UL;
    printf("%a %a %a\n", (double)big, (double)ub, (float)big);
    printf("%a %a\n", (float)d, (double)f);
    printf("%a %a %a\n", fmod(10.5, 3.2), sqrt(d), fma(d, d, -f));
    printf("%a %a %a %a\n", floor(-d), ceil(-d), trunc(-d), round(2.5));
    return 0;
}
