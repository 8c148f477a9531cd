#include "print.h"

#include <string.h>

static void print_rule(const struct table *t, const struct look *look, FILE *out) {
    int k, n;
    int total = 0;
    for (k = 0; k < t->columns; k++)
        total += t->width[k] + (k > 0 ? (int)strlen(look->between) : 0);
    for (n = 0; n < total; n++)
        putc(look->rule, out);
    putc('\n', out);
}

static void print_row(const struct table *t, const struct row *row, const struct look *look, FILE *out) {
    int k;
    for (k = 0; k < row->count; k++) {
        if (k > 0)
            fputs(look->between, out);
        if (k + 1 < row->count)
            fprintf(out, "%-*s", t->width[k], row->field[k]);
        else
            fputs(row->field[k], out);
    }
    putc('\n', out);
}

void print_table(const struct table *t, const struct look *look, FILE *out) {
    int i;
    for (i = 0; i < t->count; i++) {
        print_row(t, &t->rows[i], look, out);
        if (look->rule && t->heading > 0 && i == t->heading - 1)
            print_rule(t, look, out);
    }
}
