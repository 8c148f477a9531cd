#include "formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

static const struct {
    const char *name;
    enum term_kind kind;
} functions[] = {
    {"SUM(", TERM_SUM},
    {"MAX(", TERM_MAX},
    {"COUNT(", TERM_COUNT},
};

static const char *parse_term(struct term *t, const char *text) {
    unsigned i;
    for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t length = strlen(functions[i].name);
        if (strncmp(text, functions[i].name, length) == 0) {
            t->kind = functions[i].kind;
            text = range_parse(text + length, &t->range);
            if (!text || *text != ')')
                return NULL;
            return text + 1;
        }
    }
    if (isdigit((unsigned char)*text)) {
        char *end;
        t->kind = TERM_NUMBER;
        t->number = strtod(text, &end);
        return end;
    }
    t->kind = TERM_CELL;
    return range_parse(text, &t->range);
}

int formula_parse(struct formula *f, const char *text) {
    int sign = 1;
    memset(f, 0, sizeof *f);
    for (;;) {
        struct term *t;
        if (f->count == MAX_TERMS)
            return 0;
        t = &f->terms[f->count++];
        t->sign = sign;
        text = parse_term(t, text);
        if (!text)
            return 0;
        if (*text == '\0')
            return 1;
        if (*text != '+' && *text != '-')
            return 0;
        sign = *text++ == '+' ? 1 : -1;
    }
}

static double term_value(const struct sheet *s, const struct term *t) {
    double sum = 0, most = 0;
    int row, column, count = 0;
    if (t->kind == TERM_NUMBER)
        return t->number;
    for (row = t->range.first.row; row <= t->range.last.row; row++) {
        for (column = t->range.first.column; column <= t->range.last.column; column++) {
            const struct cell *c = &s->cells[row][column];
            if (!c->used)
                continue;
            if (count == 0 || c->value > most)
                most = c->value;
            sum += c->value;
            count++;
        }
    }
    if (t->kind == TERM_COUNT)
        return count;
    return t->kind == TERM_MAX ? most : sum;
}

double formula_value(const struct sheet *s, const struct formula *f) {
    double value = 0;
    int i;
    for (i = 0; i < f->count; i++)
        value += f->terms[i].sign * term_value(s, &f->terms[i]);
    return value;
}

int formula_uses(const struct formula *f, int row, int column) {
    int i;
    for (i = 0; i < f->count; i++) {
        const struct range *r = &f->terms[i].range;
        if (f->terms[i].kind == TERM_NUMBER)
            continue;
        if (row >= r->first.row && row <= r->last.row && column >= r->first.column &&
            column <= r->last.column)
            return 1;
    }
    return 0;
}
