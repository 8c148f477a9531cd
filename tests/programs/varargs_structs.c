// Variadic structs of all classes, and long double among them.
// expect: (1 2)(0.5 0.25)(7 7.5)(10 50)(abc)
// expect: (1.5)(3)(2.5)(10 50)(3.5)
// expect: (1 2)(1 2)(1 2)(1 2)(1 2)(1 2)(1 2)(1 2)(9)(0.5 0.25)(0.5 0.25)(0.5 0.25)(0.5 0.25)(0.5 0.25)(0.5 0.25)(0.5 0.25)
// expect: (1)(10 0)(2)(-1 -3)
// expect: (7 7.5)(7 7.5)(7 7.5)(7 7.5)(7 7.5)(7 7.5)(7 7.5)(7 7.5)(7 7.5)
#include <stdarg.h>
#include <stdio.h>

struct i2 { int a, b; };
struct d2 { double a, b; };
struct mix { int a; double b; };
struct big { long v[5]; };
struct tiny { char c[3]; };

static void show(const char *kinds, ...) {
    va_list ap;
    va_start(ap, kinds);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': { struct i2 x = va_arg(ap, struct i2); printf("(%d %d)", x.a, x.b); break; }
        case 'd': { struct d2 x = va_arg(ap, struct d2); printf("(%g %g)", x.a, x.b); break; }
        case 'm': { struct mix x = va_arg(ap, struct mix); printf("(%d %g)", x.a, x.b); break; }
        case 'b': { struct big x = va_arg(ap, struct big); printf("(%ld %ld)", x.v[0], x.v[4]); break; }
        case 't': { struct tiny x = va_arg(ap, struct tiny); printf("(%.3s)", x.c); break; }
        case 'L': printf("(%Lg)", va_arg(ap, long double)); break;
        case 'n': printf("(%d)", va_arg(ap, int)); break;
        case 'w': { __int128 x = va_arg(ap, __int128); printf("(%ld %ld)", (long)(x >> 64), (long)x); break; }
        }
    va_end(ap);
    putchar('\n');
}

int main(void) {
    struct i2 i = {1, 2};
    struct d2 d = {0.5, 0.25};
    struct mix m = {7, 7.5};
    struct big b = {{10, 20, 30, 40, 50}};
    struct tiny t = {{'a', 'b', 'c'}};
    show("idmbt", i, d, m, b, t);
    show("LnLbL", 1.5L, 3, 2.5L, b, 3.5L);
    show("iiiiiiiinddddddd", i, i, i, i, i, i, i, i, 9, d, d, d, d, d, d, d);
    show("nwnw", 1, (__int128)5 << 65, 2, (__int128)-3);
    show("mmmmmmmmm", m, m, m, m, m, m, m, m, m);
    return 0;
}
