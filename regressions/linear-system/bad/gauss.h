#ifndef GAUSS_H
#define GAUSS_H

#include "matrix.h"

/* Solves a x = b; both are changed. 0 if there is exactly one solution. */
int gauss_solve(matrix a, double *b, double *x, int n);

#endif
