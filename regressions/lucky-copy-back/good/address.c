#include "address.h"

#include <ctype.h>
#include <stdio.h>

const char *address_parse(const char *text, struct address *a) {
    int row = 0;
    if (*text < 'A' || *text >= 'A' + COLUMNS)
        return NULL;
    a->column = *text++ - 'A';
    if (!isdigit((unsigned char)*text))
        return NULL;
    while (isdigit((unsigned char)*text))
        row = row * 10 + (*text++ - '0');
    if (row < 1 || row > ROWS)
        return NULL;
    a->row = row - 1;
    return text;
}

const char *range_parse(const char *text, struct range *r) {
    text = address_parse(text, &r->first);
    if (!text)
        return NULL;
    r->last = r->first;
    if (*text == ':')
        text = address_parse(text + 1, &r->last);
    return text;
}

void address_write(const struct address *a, char *text, int room) {
    snprintf(text, (unsigned)room, "%c%d", 'A' + a->column, a->row + 1);
}

void range_insert_row(struct range *r, int row) {
    if (r->first.row >= row)
        r->first.row++;
    if (r->last.row >= row)
        r->last.row++;
}

void range_delete_row(struct range *r, int row) {
    if (r->first.row > row)
        r->first.row--;
    if (r->last.row >= row)
        r->last.row--;
}
