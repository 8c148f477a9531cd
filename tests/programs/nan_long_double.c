// Of two NaN operands x87 takes the quiet one, else the one with the larger significand, else the positive
// one. Signs and significands of all results are printed.
// expect: 60d45170
#include <stdio.h>
#include <string.h>

static long double make(unsigned long long significand, unsigned short exponent) {
    long double value = 0;
    memcpy(&value, &significand, 8);
    memcpy((char *)&value + 8, &exponent, 2);
    return value;
}

static unsigned sum;

static void add(long double value) {
    unsigned char bytes[10];
    memcpy(bytes, &value, 10);
    for (int i = 0; i < 10; i++)
        sum = sum * 31 + bytes[i];
}

int main(void) {
    static const unsigned long long significands[] = {0xc000000000000001u, 0xc000000000000002u,
                                                      0x8000000000000001u, 0x8000000000000005u,
                                                      0xc000000000000000u};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 4; k++) {
                volatile long double a = make(significands[i], k & 1 ? 0xffff : 0x7fff);
                volatile long double b = make(significands[j], k & 2 ? 0xffff : 0x7fff);
                add(a + b);
                add(a - b);
                add(a * b);
                add(a / b);
            }
    printf("%x\n", sum);
    return 0;
}
