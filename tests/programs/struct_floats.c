// Structs passed in vector registers, and homogeneous float arrays.
// expect: 3 2,1 3,1,2 1,3,5,7 -0x1.38376786882b2p+0,-0x1.adf2a1eaee42bp+0 2,1
#include <stdio.h>

struct f1 { float a; };
struct f2 { float a, b; };
struct f3 { float a, b, c; };
struct f4 { float v[4]; };
struct d2 { double x, y; };
struct fd { float a; double b; };

static struct f1 g1(struct f1 x) { x.a *= 2; return x; }
static struct f2 g2(struct f2 x) { struct f2 r = {x.b, x.a}; return r; }
static struct f3 g3(struct f3 x) { struct f3 r = {x.c, x.a, x.b}; return r; }
static struct f4 g4(struct f4 x) { for (int i = 0; i < 4; i++) x.v[i] += (float)i; return x; }
static struct d2 h2(struct d2 x, struct d2 y) { struct d2 r = {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; return r; }
static struct fd hfd(struct fd x) { x.a += 1; x.b -= 1; return x; }

int main(void) {
    struct f1 a = g1((struct f1){1.5f});
    struct f2 b = g2((struct f2){1, 2});
    struct f3 c = g3((struct f3){1, 2, 3});
    struct f4 d = g4((struct f4){{1, 2, 3, 4}});
    volatile double half = 0.5; // the compiler must not fold: it would fuse
    struct d2 z = {half, 0.25};
    for (int i = 0; i < 10; i++) z = h2(z, (struct d2){1.1, -0.3});
    struct fd e = hfd((struct fd){1, 2});
    printf("%g %g,%g %g,%g,%g %g,%g,%g,%g %a,%a %g,%g\n", a.a, b.a, b.b, c.a, c.b, c.c, d.v[0], d.v[1], d.v[2],
           d.v[3], z.x, z.y, e.a, e.b);
    return 0;
}
