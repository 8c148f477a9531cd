#ifndef SHOW_H
#define SHOW_H

#include <stdio.h>

#include "board.h"

struct view {
    int bars;    /* columns of the bars, 0: none */
    int trends;  /* show which way levels go */
    fixed scale; /* the level of a whole bar */
};

/* Writes a level as the panel shows it: one decimal, four places,
   `over` and `under` beyond what it can show. */
void show_level(fixed level, char *text, int room);

void show_board(const struct board *b, const struct view *v, FILE *out);

#endif
