// Every integer type, at its edges, through arithmetic, shifts and conversions.
// expect: 127 0 32767 0 0 0
// expect: 2147483648 1
// expect: -3074457345618258602 -808
// expect: 288230376151711743 -1317624576693539401
// expect: 123456789abcdef 123456789abcdef
// expect: 68acf13579bde000 91a2b3c4d5e
// expect: 9e26af37bc000000 48d159e2
// expect: d5e6f78000000000 2468a
// expect: def0000000000000 12
// expect: -17 -12817 -1985229329
// expect: 1
// expect: y
// expect: -3 -1
#include <limits.h>
#include <stdio.h>

static volatile signed char sc = SCHAR_MIN;
static volatile unsigned char uc = UCHAR_MAX;
static volatile short s = SHRT_MIN;
static volatile unsigned short us = USHRT_MAX;
static volatile int i = INT_MAX;
static volatile unsigned u = UINT_MAX;
static volatile long l = LONG_MIN;
static volatile unsigned long ul = ULONG_MAX;
static volatile long long ll = LLONG_MAX;
static volatile _Bool b = 1;
static volatile char c = 'x';

int main(void) {
    sc -= 1; uc += 1; s -= 1; us += 1; u += 1; ul += 1;
    printf("%d %u %d %u %u %lu\n", sc, uc, s, us, u, ul);
    u = (unsigned)i + 1u;
    printf("%u %d\n", u, (int)u == INT_MIN);
    printf("%ld %ld\n", l / 3, l % 1000);
    printf("%lld %lld\n", ll >> 5, ll / -7);
    ul = 0x0123456789abcdefUL;
    for (int k = 0; k < 64; k += 13) printf("%lx %lx\n", ul << k, ul >> k);
    printf("%d %d %d\n", (signed char)ul, (short)ul, (int)ul);
    b = 77; printf("%d\n", b);
    c = (char)(c + 1); printf("%c\n", c);
    printf("%d %d\n", -7 / 2, -7 % 2);
    return 0;
}
