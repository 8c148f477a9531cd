// Variadic doubles beyond the eight vector registers, mixed with integers.
// expect: 5.5
// expect: 539
// expect: 16.002
#include <stdarg.h>
#include <stdio.h>

static double dot(int n, ...) {
    va_list ap;
    double t = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++) { int w = va_arg(ap, int); t += w * va_arg(ap, double); }
    va_end(ap);
    return t;
}

static double fixed_floats(double a, float b, int n, ...) {
    va_list ap;
    va_start(ap, n);
    double t = a - b;
    while (n--) t = t / 2 + va_arg(ap, double);
    va_end(ap);
    return t;
}

int main(void) {
    float f = 2.5f;
    printf("%g\n", dot(2, 1, 0.5, 2, (double)f));
    printf("%g\n", dot(11, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5));
    printf("%g\n", fixed_floats(1, 2, 9, 1., 2., 3., 4., 5., 6., 7., 8., 9.));
    return 0;
}
