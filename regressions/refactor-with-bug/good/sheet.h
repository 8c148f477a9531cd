/* A sheet of cells. Rows and columns are counted from 1, as users do. */
#ifndef SHEET_H
#define SHEET_H

#include <stdio.h>

enum kind { EMPTY, NUMBER, TEXT, FORMULA, ERROR };
enum { MOST_ROWS = 64, MOST_COLS = 16 };

struct slot {
    enum kind kind;
    double number;
    char *text; /* of a text, a formula or an error */
    int busy;   /* it is being evaluated */
};

struct sheet {
    int rows, cols;
    struct slot slots[MOST_ROWS * MOST_COLS];
};

struct sheet *sheet_new(void);
void sheet_free(struct sheet *sheet);

int sheet_rows(const struct sheet *sheet);
int sheet_cols(const struct sheet *sheet);

/* What a cell holds; a cell outside of the sheet is empty. */
enum kind sheet_kind(const struct sheet *sheet, int row, int col);
/* Returns 1 and the number, or 0 if the cell has none. */
int sheet_get_number(const struct sheet *sheet, int row, int col, double *number);
const char *sheet_get_text(const struct sheet *sheet, int row, int col);

/* Each returns 0, or -1 if the sheet does not reach so far. */
int sheet_set_number(struct sheet *sheet, int row, int col, double number);
int sheet_set_text(struct sheet *sheet, int row, int col, enum kind kind, const char *text);

int sheet_is_busy(const struct sheet *sheet, int row, int col);
void sheet_set_busy(struct sheet *sheet, int row, int col, int busy);

void sheet_swap_rows(struct sheet *sheet, int first, int second);

int load(struct sheet *sheet, FILE *in);
void print_sheet(const struct sheet *sheet, FILE *out);
void print_widths(const struct sheet *sheet, int *widths);
void sort_rows(struct sheet *sheet, int col, int from);

#endif
