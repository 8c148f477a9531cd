#ifndef FORMULA_H
#define FORMULA_H

#include "address.h"

struct sheet;

enum term_kind { TERM_NUMBER, TERM_CELL, TERM_SUM, TERM_MAX, TERM_COUNT };

struct term {
    int sign;
    enum term_kind kind;
    double number;
    struct range range;
};

#define MAX_TERMS 8

/* A sum of terms. */
struct formula {
    int count;
    struct term terms[MAX_TERMS];
};

/* Reads what follows the `=`; returns 0 if it is not a formula. */
int formula_parse(struct formula *f, const char *text);

double formula_value(const struct sheet *s, const struct formula *f);

/* Whether a cell is among those that a formula uses. */
int formula_uses(const struct formula *f, int row, int column);

#endif
