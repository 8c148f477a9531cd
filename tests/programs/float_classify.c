// The classification macros and their builtins.
// expect: zero 1000
// expect: zero 1000
// expect: normal 1100
// expect: normal 1100
// expect: subnormal 1000
// expect: subnormal 1000
// expect: normal 1100
// expect: inf 0001
// expect: inf 0001
// expect: nan 0010
// expect: 1 1
// expect: 0 1
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *name(double x) {
    switch (fpclassify(x)) {
    case FP_NAN: return "nan";
    case FP_INFINITE: return "inf";
    case FP_ZERO: return "zero";
    case FP_SUBNORMAL: return "subnormal";
    case FP_NORMAL: return "normal";
    }
    return "?";
}

int main(void) {
    volatile double v[] = {0.0, -0.0, 1.0, -2.5, 5e-324, 1e-310, 1e308, INFINITY, -INFINITY, NAN};
    for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
        printf("%s %d%d%d%d\n", name(v[i]), isfinite(v[i]) != 0, isnormal(v[i]) != 0,
               isnan(v[i]) != 0, isinf(v[i]) != 0);
    volatile float f = 1e-40f;
    volatile long double l = 1e-4940L;
    printf("%d %d\n", fpclassify(f) == FP_SUBNORMAL, fpclassify(l) == FP_SUBNORMAL);
    printf("%d %d\n", isgreater(v[2], v[9]), isunordered(v[2], v[9]) != 0);
    return 0;
}
