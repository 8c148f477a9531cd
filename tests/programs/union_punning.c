// The same bytes as several types; partial overlaps of stores and loads.
// expect: 3ff8000000000000 0 1073217536
// expect: 98304
// expect: ffffffff40200000
// expect: 0x1.69f2bcp-1
// expect: 66554433
// expect: 559955
#include <stdint.h>
#include <stdio.h>
#include <string.h>

union word { uint64_t u; int32_t i[2]; float f[2]; double d; uint8_t b[8]; };

static float rsqrt(float x) {
    union { float f; uint32_t i; } v = {x};
    v.i = 0x5f3759df - (v.i >> 1);
    return v.f * (1.5f - 0.5f * x * v.f * v.f);
}

int main(void) {
    union word w = {.d = 1.5};
    printf("%llx %d %d\n", (unsigned long long)w.u, w.i[0], w.i[1]);
    w.b[7] = 0x40;
    printf("%g\n", w.d);
    w.f[0] = 2.5f;
    w.i[1] = -1;
    printf("%llx\n", (unsigned long long)w.u);
    printf("%a\n", rsqrt(2));
    unsigned char raw[16];
    for (int i = 0; i < 16; i++) raw[i] = (unsigned char)(i * 17);
    uint32_t odd;
    memcpy(&odd, raw + 3, 4);
    printf("%x\n", odd);
    double d;
    memcpy(&d, raw + 5, sizeof d);
    memcpy(raw, &d, 5);
    printf("%02x%02x%02x\n", raw[0], raw[4], raw[5]);
    return 0;
}
