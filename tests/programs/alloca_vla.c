// alloca, variable-length arrays in one and two dimensions, in loops.
// expect: 1
// expect: 84
// expect: 455
// expect: 1330
// expect: left-right
// expect: 260168
// expect: 10
// expect: 90
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static int sum_square(int n) {
    int m[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i][j] = i * j;
    int t = 0;
    for (int i = 0; i < n; i++) t += m[i][n - 1 - i];
    return t + (int)(sizeof m / sizeof m[0][0]);
}

static char *build(char *into, const char *a, const char *b) {
    char *t = alloca(strlen(a) + strlen(b) + 2);
    sprintf(t, "%s-%s", a, b);
    return strcpy(into, t);
}

static int pass(int n, int (*v)[n]) { return v[1][n - 1]; }

int main(void) {
    for (int n = 1; n < 20; n += 6) printf("%d\n", sum_square(n));
    char out[64];
    puts(build(out, "left", "right"));
    int total = 0;
    for (int i = 1; i < 200; i++) {
        char v[i * 13];
        memset(v, i, sizeof v);
        total += v[i] + (int)sizeof v;
    }
    printf("%d\n", total);
    int grid[2][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
    printf("%d\n", pass(5, grid));
    int *chain[10];
    for (int i = 0; i < 10; i++) { chain[i] = alloca(sizeof(int)); *chain[i] = i * i; }
    printf("%d\n", *chain[3] + *chain[9]);
    return 0;
}
