// stdin: 3 4
// stdin: 5 word 2.5
// stdin: 7,8;9
// expect: 8 17 word 2.5 789
// expect: -1
#include <stdio.h>

int main(void) {
    int a, b, c, d, e, f;
    char w[20];
    double x;
    int n = scanf("%d %d", &a, &b);
    n += scanf("%d %19s %lf", &c, w, &x);
    n += scanf("%d,%d;%d", &d, &e, &f);
    printf("%d %d %s %g %d\n", n, a * b + c, w, x, d * 100 + e * 10 + f);
    printf("%d\n", scanf("%d", &a));
    return 0;
}
