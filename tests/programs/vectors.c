// SSE intrinsics and vector extensions: taken apart where they can be, logged
// where only the processor knows.
// expect: 36 8
// expect: mask 0x0f0f
// expect: 5 7 9 11
// expect: 1.50 4.00 7.50 12.00
// expect: 2.00 3.00
#include <emmintrin.h>
#include <stdio.h>

typedef int four __attribute__((vector_size(16)));
struct pair { float x, y; };

static four add(four a, four b) { return a + b; }
static struct pair shift(struct pair p, float by) { return (struct pair){p.x + by, p.y + by}; }

int main(int argc, char **argv) {
    (void)argv;
    short v[8];
    for (int i = 0; i < 8; i++)
        v[i] = (short)(i + argc);
    __m128i x = _mm_loadu_si128((__m128i *)v);
    __m128i ones = _mm_set1_epi16(1);
    __m128i sums = _mm_madd_epi16(x, ones);
    int part[4];
    _mm_storeu_si128((__m128i *)part, sums);
    printf("%d %d\n", part[0] + part[1] + part[2] + part[3], v[7]);
    unsigned char bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = i & 8 ? (i & 4 ? 0 : 255) : (i & 4 ? 0 : 200);
    printf("mask 0x%04x\n", _mm_movemask_epi8(_mm_loadu_si128((__m128i *)bytes)));
    four s = add((four){1, 2, 3, 4}, (four){4, 5, 6, 7});
    printf("%d %d %d %d\n", s[0], s[1], s[2], s[3]);
    __m128 f = _mm_mul_ps(_mm_setr_ps(1, 2, 3, 4), _mm_setr_ps(1.5f, 2, 2.5f, 3));
    float out[4];
    _mm_storeu_ps(out, f);
    printf("%.2f %.2f %.2f %.2f\n", out[0], out[1], out[2], out[3]);
    struct pair p = shift((struct pair){1, 2}, (float)argc);
    printf("%.2f %.2f\n", p.x, p.y);
    return 0;
}
