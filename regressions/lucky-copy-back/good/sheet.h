#ifndef SHEET_H
#define SHEET_H

#include <stdio.h>

#include "address.h"
#include "formula.h"

struct cell {
    int used;
    int has_formula;
    int state; /* of a recalculation: not seen, under way, done */
    double value;
    struct formula formula;
};

struct sheet {
    struct cell cells[ROWS][COLUMNS];
    int circular; /* cells that need themselves, as of the last recalculation */
};

void sheet_init(struct sheet *s);

/* Puts a number or, after `=`, a formula into a cell; 0 if it is neither. */
int sheet_set(struct sheet *s, const struct address *a, const char *text);

void sheet_insert_row(struct sheet *s, int row);
void sheet_delete_row(struct sheet *s, int row);

/* Brings all formulas up to date; returns how many values changed. */
int sheet_recalculate(struct sheet *s);

void sheet_print(const struct sheet *s, FILE *out);

#endif
