/* A spreadsheet for the command line. */
#ifndef CALC_H
#define CALC_H

#include <stddef.h>

enum { COLUMNS = 26, ROWS = 99 };

enum fault {
    FAULT_NONE,
    FAULT_SYNTAX,
    FAULT_DIVISION,
    FAULT_CYCLE,
    FAULT_NAME,
    FAULT_RANGE,
};

enum cell_kind { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_FORMULA };

struct cell {
    enum cell_kind kind;
    char *source; /* of a text or formula */
    double number;
    int active; /* it is being evaluated */
};

struct place {
    int column;
    int row;
};

/* ---- cells.c */

int place_parse(const char *text, struct place *place, const char **end);
struct cell *cell_at(struct place place);
/* A line of a sheet. 0 if it is not understood. */
int cell_read(const char *line);
void cells_bounds(int *columns, int *rows);
void cells_free(void);

/* ---- formula.c */

double cell_value(struct cell *cell, enum fault *fault);

/* ---- functions.c */

struct arguments {
    double *values;
    int count;
    int room;
    int cells; /* that are numbers */
};

void arguments_add(struct arguments *arguments, double value);
double function_call(const char *name, const struct arguments *arguments, enum fault *fault);

/* ---- show.c */

const char *fault_text(enum fault fault);
void sheet_show(void);

#endif
