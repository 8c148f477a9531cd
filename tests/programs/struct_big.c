// Structs in memory: passed as a copy, returned through a hidden pointer.
// expect: a++ 43 640
// expect: 1 fedcba9876543210
// expect: a+++ 36
#include <stdio.h>
#include <string.h>

struct big { long v[8]; char name[20]; };
struct odd { char c[17]; };

static struct big grow(struct big x, int by) {
    for (int i = 0; i < 8; i++) x.v[i] += by * i;
    strcat(x.name, "+");
    return x;
}
static struct odd flip(struct odd x) {
    struct odd r;
    for (int i = 0; i < 17; i++) r.c[i] = x.c[16 - i];
    return r;
}
static long total(struct big a, struct big b, struct odd c) {
    long t = 0;
    for (int i = 0; i < 8; i++) t += a.v[i] * b.v[7 - i];
    a.v[0] = 99;
    return t + c.c[3];
}

int main(void) {
    struct big a = {{1, 2, 3, 4, 5, 6, 7, 8}, "a"};
    struct big b = grow(grow(a, 2), 3);
    struct odd o = flip((struct odd){"0123456789abcdef"});
    printf("%s %ld %ld\n", b.name, b.v[7], total(a, b, o));
    printf("%ld %.16s\n", a.v[0], o.c + 1);
    struct big (*f)(struct big, int) = grow;
    struct big list[3] = {a, b, f(b, 1)};
    list[0] = list[2];
    printf("%s %ld\n", list[0].name, list[0].v[5]);
    return 0;
}
