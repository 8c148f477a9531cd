// 128-bit integers take two register slots and two registers in calls.
// expect: mul 0121fa00ad77d7422236d88fe5618cf1
// expect: div 0000000004dd709c83e9e6c3e12da0e1
// expect: rem 00000000000000000000000019d69cca
// expect: shl 8db623f958633c400000000000000000
// expect: shr 00243f4015aefae84446db11fcac319e
// expect: sar ffffffffffffffffffffffffffffffc1
// expect: neg fede05ff528828bdddc927701a9e730f
// expect: call fc0914fda0dc8e9888400a085d2a92b5
// expect: mem 75089c11c132dbd9b1bb50a33b18d7d1
// expect: 0 1
// expect: 1.5056444482032635e+36
// expect: fromdouble 00000012eec2eb3869af000000000000
#include <stdio.h>
#include <stdint.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static void print(const char *name, u128 v) {
    printf("%s %016llx%016llx\n", name, (unsigned long long)(v >> 64), (unsigned long long)v);
}

static i128 fused(i128 a, int k, i128 b) { return a * k - b; }

static u128 table[4];

int main(int argc, char **argv) {
    u128 x = (u128)0x0123456789abcdefULL * 0xfedcba9876543210ULL + (unsigned)argc;
    print("mul", x);
    print("div", x / 1000000007);
    print("rem", x % 1000000007);
    print("shl", x << 70);
    print("shr", x >> 3);
    print("sar", (u128)((i128)-1000 >> 4));
    print("neg", (u128)-(i128)x);
    print("call", (u128)fused((i128)x, -3, (i128)x / 2));
    table[0] = 1;
    for (int i = 1; i < 4; i++) table[i] = table[i - 1] * 0x123456789abcdefULL + (u128)i;
    print("mem", table[3]);
    printf("%d %d\n", x > table[3], (i128)-5 < (i128)table[0]);
    printf("%.17g\n", (double)x);
    print("fromdouble", (u128)1.5e30);
    (void)argv;
    return 0;
}
