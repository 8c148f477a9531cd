// Structs with one general and one vector eightbyte, in either order, and
// with so many arguments before them that registers run out.
// expect: 4.5 -3 | 5 10 | 1.5 2 5 | ello -7
// expect: 54355.1
#include <stdio.h>

struct di { double d; int i; };
struct id { int i; double d; };
struct fi { float f; int i; long l; };
struct ptr { const char *s; double d; };

static struct di g1(struct di x) { x.d += x.i; x.i = -x.i; return x; }
static struct id g2(struct id x) { x.d *= x.i; x.i++; return x; }
static struct fi g3(struct fi x) { x.f += 1; x.l += x.i; return x; }
static struct ptr g4(struct ptr x) { x.s++; x.d = -x.d; return x; }
static double many(int a, int b, int c, int d, int e, struct id s, struct di t, double f, struct fi u, int g) {
    return a + b * 10 + c * 100 + d * 1000 + e * 10000 + s.i + s.d + t.d + t.i + f + u.f + u.i + (double)u.l + g;
}

int main(void) {
    struct di a = g1((struct di){1.5, 3});
    struct id b = g2((struct id){4, 2.5});
    struct fi c = g3((struct fi){0.5f, 2, 3});
    struct ptr p = g4((struct ptr){"hello", 7});
    printf("%g %d | %d %g | %g %d %ld | %s %g\n", a.d, a.i, b.i, b.d, c.f, c.i, c.l, p.s, p.d);
    printf("%g\n", many(1, 2, 3, 4, 5, b, a, 0.125, c, 9));
    return 0;
}
