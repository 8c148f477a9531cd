#ifndef MATRIX_H
#define MATRIX_H

#define MAX_SIZE 8

typedef double matrix[MAX_SIZE][MAX_SIZE];

void matrix_print(const matrix a, int n);
void swap_rows(matrix a, int i, int j, int n);
void swap_values(double *a, double *b);

#endif
