// Bit counting, byte swapping, overflow checks, expect, select by arithmetic.
// expect: 12 8 8 0
// expect: 78563412 c3000000a5f000 3412
// expect: 8 28
// expect: 2 -2147483648
// expect: 1 0
// expect: 1
// expect: f0a5000000c300 a000001860001e14 30c0003c2940000 78528000006180
// expect: 1 2
// expect: c3000000a50f00
// expect: 4 1
#include <stdint.h>
#include <stdio.h>

int main(void) {
    uint64_t x = 0x00f0a5000000c300ULL;
    printf("%d %d %d %d\n", __builtin_popcountll(x), __builtin_clzll(x), __builtin_ctzll(x), __builtin_parityll(x));
    printf("%x %llx %x\n", __builtin_bswap32(0x12345678u), (unsigned long long)__builtin_bswap64(x), __builtin_bswap16(0x1234));
    printf("%d %d\n", __builtin_ffs(0x80), __builtin_clrsb(-5));
    int r, o = 0;
    o += __builtin_add_overflow(2147483647, (int)(x != 0), &r);
    o += __builtin_mul_overflow(65536, 65536 + (int)(x == 0), &r);
    o += __builtin_sub_overflow(-2147483647, 1, &r);
    printf("%d %d\n", o, r);
    unsigned long ur;
    o = __builtin_mul_overflow(1UL << 33, 1UL << 33, &ur);
    printf("%d %lu\n", o, ur);
    long lr;
    o = __builtin_smull_overflow(3037000500L, 3037000500L, &lr);
    printf("%d\n", o);
    for (int n = 0; n < 64; n += 21) printf("%llx ", (unsigned long long)(x << n | x >> (-n & 63)));
    printf("\n%d %d\n", __builtin_constant_p(3), __builtin_expect(x == 0, 0) ? 1 : 2);
    printf("%llx\n", (unsigned long long)__builtin_bitreverse64(x));
    printf("%d %d\n", __builtin_abs(-4), (int)__builtin_object_size(&r, 0) != 0);
    return 0;
}
