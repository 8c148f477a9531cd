// flags: -lm
// expect: 45.814136822
// expect: 0.602783 11 -0.75 -3 24
// expect: 3 4 -0 -1
// expect: 5 3 2
// expect: 0.841471 0.841471
// expect: 1
// expect: 3
#include <math.h>
#include <stdio.h>

int main(void) {
    double t = 0;
    for (int i = 1; i < 50; i++) t += sin(i) * cos(i / 3.0) + exp(-i / 10.0) - log(i) + pow(i, 0.3) + atan2(i, 7);
    printf("%.9f\n", t);
    int e;
    double ip, m = frexp(1234.5, &e), frac = modf(-3.75, &ip);
    printf("%g %d %g %g %g\n", m, e, frac, ip, ldexp(0.75, 5));
    printf("%ld %lld %g %g\n", lround(2.5), llrint(3.5), nearbyint(-0.5), remainder(7, 4));
    printf("%g %g %g\n", hypot(3, 4), cbrt(27), fmax(NAN, 2));
    printf("%.6f %.6f\n", (double)sinf(1), (double)sinl(1));
    int quo;
    printf("%g\n", remquo(10, 3, &quo));
    printf("%d\n", quo);
    return 0;
}
