#include "calc.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 11 };

const char *fault_text(enum fault fault) {
    switch (fault) {
    case FAULT_SYNTAX:
        return "#SYNTAX";
    case FAULT_DIVISION:
        return "#DIV/0";
    case FAULT_CYCLE:
        return "#CYCLE";
    case FAULT_NAME:
        return "#NAME";
    case FAULT_RANGE:
        return "#RANGE";
    default:
        return "";
    }
}

static void show_cell(struct cell *cell) {
    enum fault fault = FAULT_NONE;
    double value;
    if (cell->kind == CELL_EMPTY) {
        printf("%*s", WIDTH, "");
        return;
    }
    if (cell->kind == CELL_TEXT) {
        printf("%-*.*s", WIDTH, WIDTH, cell->source);
        return;
    }
    value = cell_value(cell, &fault);
    if (fault != FAULT_NONE)
        printf("%*s", WIDTH, fault_text(fault));
    else
        printf("%*.2f", WIDTH, value);
}

void sheet_show(void) {
    int columns, rows;
    cells_bounds(&columns, &rows);
    for (int row = 0; row < rows; row++) {
        printf("%2d", row + 1);
        for (int column = 0; column < columns; column++) {
            struct place place = {column, row};
            printf(" ");
            show_cell(cell_at(place));
        }
        printf("\n");
    }
}
