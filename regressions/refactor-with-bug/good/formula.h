/* Formulas: numbers, cells, the four operations, and functions of areas. */
#ifndef FORMULA_H
#define FORMULA_H

#include "sheet.h"

struct area {
    int top, left, bottom, right; /* all of them inside the area */
};

struct parser {
    struct sheet *sheet;
    const char *at;
    int rows; /* of the sheet, for areas of whole columns */
    const char *error;
};

/* Reads a cell's name, as B12. Returns 0 if there is none. */
int parse_cell(struct parser *parser, int *row, int *col);
/* Reads an area, as B2:C9, or B:C for whole columns, or one cell. */
int parse_area(struct parser *parser, struct area *area);
double parse_sum(struct parser *parser);

/* The value of a cell, which is evaluated if need be. */
int eval_cell(struct sheet *sheet, int row, int col, double *value);
void eval_sheet(struct sheet *sheet);

/* Applies a function to an area. Returns 0 if there is no such function. */
int apply(const char *name, struct sheet *sheet, const struct area *area, double *result);

#endif
