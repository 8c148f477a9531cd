#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#define MAX_COLUMNS 16
#define MAX_ROWS 256

struct row {
    int count;
    char *field[MAX_COLUMNS];
};

struct table {
    struct row rows[MAX_ROWS];
    int count;
    int columns;
    int width[MAX_COLUMNS];
    int separator; /* between fields when reading, 0: blanks */
    int heading;   /* rows at the top that are not data */
    unsigned long limit; /* longest field that is shown whole, 0: any */
};

void table_init(struct table *t);
void table_free(struct table *t);

/* Options, as the command line has them. */
void table_limit(struct table *t, const char *text);
void table_separator(struct table *t, const char *text);
void table_heading(struct table *t, const char *text);

/* Reads all rows; returns how many did not fit. */
int table_read(struct table *t, FILE *in);

/* Shortens what is longer than the limit, and measures columns. */
void table_measure(struct table *t);

#endif
