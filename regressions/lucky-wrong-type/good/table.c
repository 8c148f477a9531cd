#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "field.h"

/* Stands at the end of what was shortened. */
#define MARK '~'

void table_init(struct table *t) {
    memset(t, 0, sizeof *t);
}

void table_free(struct table *t) {
    int i, k;
    for (i = 0; i < t->count; i++)
        for (k = 0; k < t->rows[i].count; k++)
            free(t->rows[i].field[k]);
    t->count = 0;
}

void table_limit(struct table *t, const char *text) {
    t->limit = strtoul(text, NULL, 10);
}

void table_separator(struct table *t, const char *text) {
    t->separator = text[0] == '\\' && text[1] == 't' ? '\t' : text[0];
}

void table_heading(struct table *t, const char *text) {
    t->heading = atoi(text);
    if (t->heading < 0)
        t->heading = 0;
}

static int add_row(struct table *t, char *line) {
    struct row *row;
    char *field;
    if (t->count == MAX_ROWS)
        return 0;
    row = &t->rows[t->count++];
    while ((field = field_next(&line, t->separator)) != NULL) {
        if (row->count == MAX_COLUMNS)
            return 0;
        row->field[row->count++] = field_copy(field);
    }
    if (row->count > t->columns)
        t->columns = row->count;
    return 1;
}

int table_read(struct table *t, FILE *in) {
    char line[1024];
    int lost = 0;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        if (!add_row(t, line))
            lost++;
    }
    return lost;
}

static void shorten(struct table *t, char *field) {
    size_t length = strlen(field);
    if (t->limit == 0)
        return;
    if (length > t->limit) {
        field[t->limit - 1] = MARK;
        field[t->limit] = '\0';
    }
}

void table_measure(struct table *t) {
    int i, k;
    memset(t->width, 0, sizeof t->width);
    for (i = 0; i < t->count; i++) {
        for (k = 0; k < t->rows[i].count; k++) {
            int length;
            shorten(t, t->rows[i].field[k]);
            length = (int)strlen(t->rows[i].field[k]);
            if (length > t->width[k])
                t->width[k] = length;
        }
    }
}
