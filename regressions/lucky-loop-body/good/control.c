#include "control.h"

/* Left out and zero are the same. */
int parameter(const struct parameters *p, int index, int fallback) {
    if (index >= p->count || p->value[index] == 0)
        return fallback;
    return p->value[index];
}

static void scroll_up(struct screen *s, int count) {
    screen_rows_up(s, s->top, count);
}

static void scroll_down(struct screen *s, int count) {
    screen_rows_down(s, s->top, count);
}

static void erase_display(struct screen *s, int what) {
    int row;
    for (row = 0; row < SCREEN_ROWS; row++) {
        if (what == 2 || (what == 0 && row > s->row) || (what == 1 && row < s->row))
            screen_blank(s, row, 0, SCREEN_COLUMNS);
    }
    if (what == 0)
        screen_blank(s, s->row, s->column, SCREEN_COLUMNS);
    else if (what == 1)
        screen_blank(s, s->row, 0, s->column + 1);
}

static void erase_line(struct screen *s, int what) {
    int from = what == 0 ? s->column : 0;
    int to = what == 1 ? s->column + 1 : SCREEN_COLUMNS;
    screen_blank(s, s->row, from, to);
}

static void set_margins(struct screen *s, int top, int bottom) {
    if (top < 1 || bottom > SCREEN_ROWS || top >= bottom)
        return;
    s->top = top - 1;
    s->bottom = bottom - 1;
    screen_move(s, 0, 0);
}

int control_sequence(struct screen *s, const struct parameters *p, char final) {
    int n = parameter(p, 0, 1);
    switch (final) {
    case 'A':
        screen_move(s, s->row - n, s->column);
        break;
    case 'B':
        screen_move(s, s->row + n, s->column);
        break;
    case 'C':
        screen_move(s, s->row, s->column + n);
        break;
    case 'D':
        screen_move(s, s->row, s->column - n);
        break;
    case 'G':
        screen_move(s, s->row, n - 1);
        break;
    case 'H':
    case 'f':
        screen_move(s, n - 1, parameter(p, 1, 1) - 1);
        break;
    case 'J':
        erase_display(s, parameter(p, 0, 0));
        break;
    case 'K':
        erase_line(s, parameter(p, 0, 0));
        break;
    case 'L':
        screen_rows_down(s, s->row, n);
        break;
    case 'M':
        screen_rows_up(s, s->row, n);
        break;
    case 'S':
        scroll_up(s, n);
        break;
    case 'T':
        scroll_down(s, n);
        break;
    case 'd':
        screen_move(s, n - 1, s->column);
        break;
    case 'm':
        break;
    case 'r':
        set_margins(s, n, parameter(p, 1, SCREEN_ROWS));
        break;
    case 's':
        s->saved_row = s->row;
        s->saved_column = s->column;
        break;
    case 'u':
        screen_move(s, s->saved_row, s->saved_column);
        break;
    default:
        return 0;
    }
    return 1;
}
