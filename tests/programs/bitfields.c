// Signed and unsigned bitfields, across bytes, beside ordinary members.
// expect: 0 3 1 -3 0 0 1
// expect: 1 0 3280 8 -24412 0 0
// expect: 0 5 96565 -13 -1907348629 15 1
// expect: 1 2 31756 -2 521969439065 1 0
// expect: 0 7 114377 9 175175562274 28 1
#include <stdio.h>

struct flags { unsigned a : 1, b : 3, : 0, c : 17; signed d : 5; long e : 40; unsigned char f; _Bool g : 1; };

static struct flags step(struct flags x, int i) {
    x.a = (unsigned)i & 1u;
    x.b += 3;
    x.c = x.c * 3u + 1u;
    x.d -= 3;
    x.e = x.e * 5 - i;
    x.f ^= (unsigned char)i;
    x.g = !x.g;
    return x;
}

int main(void) {
    struct flags x = {0};
    for (int i = 0; i < 30; i++) {
        x = step(x, i);
        if (i % 7 == 0) printf("%d %d %d %d %ld %d %d\n", x.a, x.b, x.c, x.d, (long)x.e, x.f, x.g);
    }
    return 0;
}
