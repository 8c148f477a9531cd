#include "screen.h"

#include <string.h>

void screen_reset(struct screen *s) {
    memset(s, 0, sizeof *s);
    memset(s->cell, ' ', sizeof s->cell);
    s->bottom = SCREEN_ROWS - 1;
}

void screen_move(struct screen *s, int row, int column) {
    if (row < 0)
        row = 0;
    if (row >= SCREEN_ROWS)
        row = SCREEN_ROWS - 1;
    if (column < 0)
        column = 0;
    if (column >= SCREEN_COLUMNS)
        column = SCREEN_COLUMNS - 1;
    s->row = row;
    s->column = column;
}

void screen_put(struct screen *s, char c) {
    if (s->column == SCREEN_COLUMNS) {
        s->column = 0;
        screen_line_feed(s);
    }
    s->cell[s->row][s->column++] = c;
}

void screen_blank(struct screen *s, int row, int from, int to) {
    if (from < to)
        memset(&s->cell[row][from], ' ', (size_t)(to - from));
}

void screen_rows_up(struct screen *s, int from, int count) {
    int row;
    for (row = from; row <= s->bottom; row++) {
        if (row + count <= s->bottom)
            memcpy(s->cell[row], s->cell[row + count], SCREEN_COLUMNS);
        else
            screen_blank(s, row, 0, SCREEN_COLUMNS);
    }
}

void screen_rows_down(struct screen *s, int from, int count) {
    int row;
    for (row = s->bottom; row >= from; row--) {
        if (row - count >= from)
            memcpy(s->cell[row], s->cell[row - count], SCREEN_COLUMNS);
        else
            screen_blank(s, row, 0, SCREEN_COLUMNS);
    }
}

void screen_line_feed(struct screen *s) {
    if (s->row == s->bottom)
        screen_rows_up(s, s->top, 1);
    else if (s->row < SCREEN_ROWS - 1)
        s->row++;
}

void screen_print(const struct screen *s, FILE *out) {
    int row;
    for (row = 0; row < SCREEN_ROWS; row++) {
        int length = SCREEN_COLUMNS;
        while (length > 0 && s->cell[row][length - 1] == ' ')
            length--;
        fprintf(out, "%2d|%.*s\n", row + 1, length, s->cell[row]);
    }
    fprintf(out, "cursor %d;%d\n", s->row + 1, s->column + 1);
}
