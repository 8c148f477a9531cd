#include "gauss.h"

#include <math.h>

#define TINY 1e-13

static int best_pivot(matrix a, int row, int n) {
    int best = row;
    double most = fabs(a[row][row]);
    for (int i = row + 1; i < n; i++)
        if (fabs(a[i][row]) > most) {
            most = fabs(a[i][row]);
            best = i;
        }
    return best;
}

static void eliminate(matrix a, double *b, int row, int n) {
    for (int i = row + 1; i < n; i++) {
        double factor = a[i][row] / a[row][row];
        for (int j = row; j < n; j++)
            a[i][j] -= factor * a[row][j];
        b[i] -= factor * b[row];
    }
}

int gauss_solve(matrix a, double *b, double *x, int n) {
    for (int row = 0; row < n; row++) {
        int best = best_pivot(a, row, n);
        if (fabs(a[best][row]) < TINY)
            return -1;
        if (best != row) {
            swap_rows(a, row, best, n);
        }
        eliminate(a, b, row, n);
    }
    for (int row = n - 1; row >= 0; row--) {
        double sum = b[row];
        for (int j = row + 1; j < n; j++)
            sum -= a[row][j] * x[j];
        x[row] = sum / a[row][row];
    }
    return 0;
}
