// Structs passed in one or two general registers.
// expect: b 42 ABCDEF 93 7 y 312 65
#include <stdio.h>

struct one { char c; };
struct four { int i; };
struct seven { char c[7]; };
struct eight { int a; short b; char c; };
struct twelve { int a, b, c; };
struct sixteen { long a, b; };

static struct one f1(struct one x) { x.c++; return x; }
static struct four f4(struct four x) { x.i *= 2; return x; }
static struct seven f7(struct seven x) { for (int i = 0; i < 7; i++) x.c[i] ^= 0x20; return x; }
static struct eight f8(struct eight x) { x.a -= x.b; x.c++; return x; }
static struct twelve f12(struct twelve x) { struct twelve y = {x.c, x.a, x.b}; return y; }
static struct sixteen f16(struct sixteen x) { struct sixteen y = {x.b, x.a}; return y; }

int main(void) {
    struct one a = f1((struct one){'a'});
    struct four b = f4((struct four){21});
    struct seven c = f7((struct seven){"abcdef"});
    struct eight d = f8((struct eight){100, 7, 'x'});
    struct twelve e = f12((struct twelve){1, 2, 3});
    struct sixteen f = f16((struct sixteen){5, 6});
    printf("%c %d %.6s %d %d %c %d%d%d %ld%ld\n", a.c, b.i, c.c, d.a, d.b, d.c, e.a, e.b, e.c, f.a, f.b);
    return 0;
}
