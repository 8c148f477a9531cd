// Inline assembly: outputs, in-outs, memory operands, flags.
// expect: 456789abcdef0123
// expect: 810372 959
// expect: 16 1
// expect: 42
// expect: 0x1.6a09e667f3bcdp+0
#include <stdint.h>
#include <stdio.h>

static uint64_t rotate(uint64_t x, unsigned char n) {
    __asm__("rolq %1, %0" : "+r"(x) : "c"(n) : "cc");
    return x;
}

static void divide(uint64_t a, uint64_t b, uint64_t *q, uint64_t *r) {
    __asm__("divq %4" : "=a"(*q), "=d"(*r) : "a"(a), "d"((uint64_t)0), "r"(b) : "cc");
}

static int add_carry(uint32_t a, uint32_t b, uint32_t *sum) {
    unsigned char carry;
    __asm__("addl %3, %0\n\tsetc %1" : "=r"(*sum), "=q"(carry) : "0"(a), "r"(b) : "cc");
    return carry;
}

int main(void) {
    printf("%llx\n", (unsigned long long)rotate(0x123456789abcdef0ULL, 12));
    uint64_t q, r;
    divide(1000000007, 1234, &q, &r);
    printf("%llu %llu\n", (unsigned long long)q, (unsigned long long)r);
    uint32_t s;
    int c = add_carry(0xfffffff0u, 0x20u, &s);
    printf("%u %d\n", s, c);
    int cell = 5;
    __asm__ volatile("addl $37, %0" : "+m"(cell) : : "cc", "memory");
    printf("%d\n", cell);
    __asm__ volatile("" : : : "memory");
    double d = 2;
    __asm__("sqrtsd %0, %0" : "+x"(d));
    printf("%a\n", d);
    return 0;
}
