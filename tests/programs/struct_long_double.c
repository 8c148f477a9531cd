// A struct with a long double is passed in memory but returned on the x87 stack
// when it is alone.
// expect: 0xa.aaaaaaaaaaaaaabp-5 0x9.555555555555555p-2 6
// expect: 0x8p-2 0xcp-3
#include <stdio.h>

struct alone { long double x; };
struct pair { long double x; int tag; };

static struct alone third(struct alone a) { a.x /= 3; return a; }
static struct pair bump(struct pair p, long double by) { p.x += by; p.tag++; return p; }
static long double _Complex spin(long double _Complex z) { return z * z; }

int main(void) {
    struct alone a = third((struct alone){1});
    struct pair p = bump((struct pair){2, 5}, a.x);
    printf("%La %La %d\n", a.x, p.x, p.tag);
    long double _Complex z = 1.5L + 0.5L * __extension__ 1.0iL;
    z = spin(z);
    printf("%La %La\n", __real__ z, __imag__ z);
    return 0;
}
