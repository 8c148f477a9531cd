/* Solves a system of linear equations from standard input. */
#include <stdio.h>
#include <stdlib.h>

#include "gauss.h"

int main(int argc, char **argv) {
    matrix a;
    double b[MAX_SIZE];
    double x[MAX_SIZE];
    int n = argc > 1 ? atoi(argv[1]) : 0;

    if (n < 1 || n > MAX_SIZE) {
        fprintf(stderr, "usage: solve SIZE < SYSTEM\n");
        return 2;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            if (scanf("%lf", &a[i][j]) != 1)
                return 2;
        if (scanf("%lf", &b[i]) != 1)
            return 2;
    }
    if (gauss_solve(a, b, x, n) < 0) {
        printf("no unique solution\n");
        return 1;
    }
    for (int i = 0; i < n; i++)
        printf("x%d = %.4f\n", i + 1, x[i]);
    return 0;
}
