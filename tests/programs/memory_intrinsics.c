// memcpy, overlapping memmove both ways, memset, of fixed and running sizes.
// expect: e738f3b5
// expect: 18e4685d
// expect: 1a3d11f1
// expect: d4a5d278
// expect: 21e42618 1
// expect: constant bytes (nil)
#include <stdio.h>
#include <string.h>

static unsigned char a[300], b[300];

static unsigned hash(const unsigned char *p, size_t n) {
    unsigned h = 2166136261u;
    while (n--) h = (h ^ *p++) * 16777619u;
    return h;
}

int main(int argc, char **argv) {
    (void)argv;
    for (int i = 0; i < 300; i++) a[i] = (unsigned char)(i * 7);
    memcpy(b, a, sizeof a);
    printf("%08x\n", hash(b, 300));
    memmove(b + 3, b, 200);
    printf("%08x\n", hash(b, 300));
    memmove(b, b + 5, 250);
    printf("%08x\n", hash(b, 300));
    memset(b + 17, 0x5a, (size_t)(argc * 33));
    printf("%08x\n", hash(b, 300));
    for (size_t n = 0; n < 40; n++) { memcpy(a + n, b + 2 * n, n); memset(a + 100 + n, (int)n, n); }
    printf("%08x %d\n", hash(a, 300), memcmp(a, b, 10) < 0);
    __builtin_memcpy(a, "constant bytes", 14);
    __builtin_memset(a + 14, 0, 2);
    printf("%s %p\n", (char *)a, memchr(a, 'q', 14));
    return 0;
}
