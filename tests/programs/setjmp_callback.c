// longjmp out of a comparison function, across the C library's frames.
// expect: gave up after 5
// expect: gave up after 50
// expect: sorted 63
// expect: sorted 63
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf env;
static int budget;

static int compare(const void *a, const void *b) {
    if (--budget == 0) longjmp(env, 1);
    return *(const int *)a - *(const int *)b;
}

int main(void) {
    for (int b = 5; b <= 5000; b *= 10) {
        int v[64];
        for (int i = 0; i < 64; i++) v[i] = (i * 37) % 64;
        budget = b;
        if (setjmp(env) == 0) {
            qsort(v, 64, sizeof *v, compare);
            printf("sorted %d\n", v[63]);
        } else {
            printf("gave up after %d\n", b);
        }
    }
    return 0;
}
