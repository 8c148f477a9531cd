#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "field.h"

int order_parse(struct order *o, const char *text) {
    char *end;
    memset(o, 0, sizeof *o);
    o->column = (int)strtol(text, &end, 10);
    if (o->column < 1 || o->column > MAX_COLUMNS)
        return 0;
    for (; *end; end++) {
        if (*end == 'n')
            o->numeric = 1;
        else if (*end == 'r')
            o->downwards = 1;
        else
            return 0;
    }
    return 1;
}

static const char *key(const struct row *row, int column) {
    return column <= row->count ? row->field[column - 1] : "";
}

static int compare(const struct row *a, const struct row *b, const struct order *o) {
    const char *x = key(a, o->column);
    const char *y = key(b, o->column);
    int result;
    if (o->numeric) {
        double u = field_number(x, 0), v = field_number(y, 0);
        result = u < v ? -1 : u > v;
    } else {
        result = strcmp(x, y);
    }
    return o->downwards ? -result : result;
}

void order_rows(struct table *t, const struct order *o) {
    int i, k;
    if (o->column == 0)
        return;
    for (i = t->heading + 1; i < t->count; i++) {
        struct row row = t->rows[i];
        for (k = i; k > t->heading && compare(&row, &t->rows[k - 1], o) < 0; k--)
            t->rows[k] = t->rows[k - 1];
        t->rows[k] = row;
    }
}
