// Number parsing with end pointers and errno.
// expect: 42 2 0
// expect: -17 3 0
// expect: 31 4 0
// expect: 63 3 0
// expect: 9 3 0
// expect: 9223372036854775807 20 1
// expect: 0 0 0
// expect: 0 0 0
// expect: 325 6 0
// expect: -12 8 0
// expect: inf 3 0
// expect: nan 3 0
// expect: inf 5 1
// expect: 0.5 2 0
// expect: 0 0 0
// expect: 50f 18446744073709551615 12 2.5
// expect: 1.25 0.1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    const char *texts[] = {"42", "-17x", "0x1f", "077", "  9", "99999999999999999999", "", "zz"};
    for (int i = 0; i < 8; i++) {
        char *end;
        errno = 0;
        long v = strtol(texts[i], &end, 0);
        printf("%ld %d %d\n", v, (int)(end - texts[i]), errno == ERANGE);
    }
    const char *reals[] = {"3.25e2rest", "-0x1.8p3", "inf", "nan", "1e999", ".5", "e5"};
    for (int i = 0; i < 7; i++) {
        char *end;
        errno = 0;
        double v = strtod(reals[i], &end);
        printf("%g %d %d\n", v, (int)(end - reals[i]), errno == ERANGE);
    }
    printf("%lx %llu %d %g\n", strtol("zz", NULL, 36), strtoull("18446744073709551615", NULL, 10), atoi("12ab"), atof("2.5"));
    printf("%Lg %g\n", strtold("1.25", NULL), strtof("0.1", NULL));
    return 0;
}
