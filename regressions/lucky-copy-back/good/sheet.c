#include "sheet.h"

#include <stdlib.h>
#include <string.h>

enum { FRESH, BUSY, DONE };

void sheet_init(struct sheet *s) {
    memset(s, 0, sizeof *s);
}

int sheet_set(struct sheet *s, const struct address *a, const char *text) {
    struct cell *c = &s->cells[a->row][a->column];
    char *end;
    if (*text == '=') {
        struct formula f;
        if (!formula_parse(&f, text + 1))
            return 0;
        c->formula = f;
        c->has_formula = 1;
        c->value = formula_value(s, &f);
    } else {
        double value = strtod(text, &end);
        if (end == text || *end)
            return 0;
        c->has_formula = 0;
        c->value = value;
    }
    c->used = 1;
    return 1;
}

static void shift_formulas(struct sheet *s, int row, void (*shift)(struct range *, int)) {
    int r, column, i;
    for (r = 0; r < ROWS; r++) {
        for (column = 0; column < COLUMNS; column++) {
            struct cell *c = &s->cells[r][column];
            if (!c->has_formula)
                continue;
            for (i = 0; i < c->formula.count; i++)
                if (c->formula.terms[i].kind != TERM_NUMBER)
                    shift(&c->formula.terms[i].range, row);
        }
    }
}

void sheet_insert_row(struct sheet *s, int row) {
    memmove(s->cells[row + 1], s->cells[row], sizeof s->cells[0] * (unsigned)(ROWS - row - 1));
    memset(s->cells[row], 0, sizeof s->cells[row]);
    shift_formulas(s, row, range_insert_row);
}

void sheet_delete_row(struct sheet *s, int row) {
    memmove(s->cells[row], s->cells[row + 1], sizeof s->cells[0] * (unsigned)(ROWS - row - 1));
    memset(s->cells[ROWS - 1], 0, sizeof s->cells[0]);
    shift_formulas(s, row, range_delete_row);
}

static int refresh(struct sheet *s, struct cell *c) {
    struct cell copy = *c;
    int changed;
    copy.value = formula_value(s, &copy.formula);
    changed = copy.value != c->value;
    *c = copy;
    return changed;
}

static int visit(struct sheet *s, struct cell *c) {
    int row, column, changed = 0;
    if (!c->has_formula || c->state == DONE)
        return 0;
    if (c->state == BUSY) {
        s->circular++;
        return 0;
    }
    c->state = BUSY;
    for (row = 0; row < ROWS; row++)
        for (column = 0; column < COLUMNS; column++)
            if (formula_uses(&c->formula, row, column))
                changed += visit(s, &s->cells[row][column]);
    changed += refresh(s, c);
    c->state = DONE;
    return changed;
}

int sheet_recalculate(struct sheet *s) {
    int row, column, changed = 0;
    s->circular = 0;
    for (row = 0; row < ROWS; row++)
        for (column = 0; column < COLUMNS; column++)
            s->cells[row][column].state = FRESH;
    for (row = 0; row < ROWS; row++)
        for (column = 0; column < COLUMNS; column++)
            changed += visit(s, &s->cells[row][column]);
    return changed;
}

void sheet_print(const struct sheet *s, FILE *out) {
    int row, column;
    for (row = 0; row < ROWS; row++) {
        for (column = 0; column < COLUMNS; column++) {
            const struct cell *c = &s->cells[row][column];
            char name[8];
            struct address a = {row, column};
            if (!c->used)
                continue;
            address_write(&a, name, (int)sizeof name);
            fprintf(out, "%-4s %10.2f%s\n", name, c->value, c->has_formula ? " =" : "");
        }
    }
}
