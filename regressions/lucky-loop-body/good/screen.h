#ifndef SCREEN_H
#define SCREEN_H

#include <stdio.h>

#define SCREEN_ROWS 12
#define SCREEN_COLUMNS 40

/* What a terminal shows, and where it writes next. */
struct screen {
    char cell[SCREEN_ROWS][SCREEN_COLUMNS];
    int row;
    int column;
    int top;    /* first row that scrolls */
    int bottom; /* last row that scrolls */
    int saved_row;
    int saved_column;
};

void screen_reset(struct screen *s);
void screen_put(struct screen *s, char c);
void screen_move(struct screen *s, int row, int column);

/* To the next row; scrolls at the bottom of what scrolls. */
void screen_line_feed(struct screen *s);

/* Blanks cells of a row from one column up to another. */
void screen_blank(struct screen *s, int row, int from, int to);

/* Moves rows `from` to `bottom` up or down; blank rows come in. */
void screen_rows_up(struct screen *s, int from, int count);
void screen_rows_down(struct screen *s, int from, int count);

/* Prints the rows without blanks at their ends. */
void screen_print(const struct screen *s, FILE *out);

#endif
