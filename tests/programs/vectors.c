// Vector extensions: modelled or not, the program must run and replay.
// expect: 24192 15120 7560 2880
// expect: 28
#include <stdio.h>

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

static v4 mix(v4 a, v4 b) { v4 m = a > b; return a * b + ((a & m) | (b & ~m)); }

int main(void) {
    v4 a = {1, 2, 3, 4}, b = {4, 3, 2, 1};
    for (int i = 0; i < 5; i++) { a = mix(a, b); b += 1; }
    printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
    f4 x = {1, 2, 3, 4};
    x = x * x - 0.5f;
    float s = 0;
    for (int i = 0; i < 4; i++) s += x[i];
    printf("%g\n", s);
    return 0;
}
