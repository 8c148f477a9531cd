#include "matrix.h"

#include <stdio.h>

void matrix_print(const matrix a, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            printf(" %8.3f", a[i][j]);
        putchar('\n');
    }
}

void swap_values(double *a, double *b) {
    double t = *a;
    *a = *b;
    *b = t;
}

void swap_rows(matrix a, int i, int j, int n) {
    for (int k = 0; k < n; k++)
        swap_values(&a[i][k], &a[j][k]);
}
