// Dense, sparse, negative, 64-bit, with ranges and fall-through.
// expect: -1 10 21 32 43 54 65 76 87 -1
// expect: minus five
// expect: thousand
// expect: huge
// expect: range
// expect: range
// expect: other
// expect: 11 10 1100 1000
#include <stdio.h>

static int dense(int x) {
    switch (x) {
    case 0: return 10; case 1: return 21; case 2: return 32; case 3: return 43;
    case 4: return 54; case 5: return 65; case 6: return 76; case 7: return 87;
    }
    return -1;
}
static const char *sparse(long x) {
    switch (x) {
    case -5: return "minus five";
    case 1000: return "thousand";
    case 1L << 40: return "huge";
    case 7 ... 12: return "range";
    default: return "other";
    }
}
static int through(char c) {
    int n = 0;
    switch (c) {
    case 'a': n += 1; __attribute__((fallthrough));
    case 'b': n += 10; break;
    case 'c': n += 100; __attribute__((fallthrough));
    default: n += 1000;
    }
    return n;
}

int main(void) {
    for (int i = -1; i < 9; i++) printf("%d ", dense(i));
    putchar('\n');
    long v[] = {-5, 1000, 1L << 40, 7, 12, 13};
    for (int i = 0; i < 6; i++) puts(sparse(v[i]));
    for (const char *p = "abcd"; *p; p++) printf("%d ", through(*p));
    putchar('\n');
    return 0;
}
