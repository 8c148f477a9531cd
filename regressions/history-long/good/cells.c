#include "calc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct cell cells[ROWS][COLUMNS];

int place_parse(const char *text, struct place *place, const char **end) {
    int row = 0;
    if (!isalpha((unsigned char)*text) || !isdigit((unsigned char)text[1]))
        return 0;
    place->column = toupper((unsigned char)*text++) - 'A';
    while (isdigit((unsigned char)*text) && row <= ROWS)
        row = row * 10 + (*text++ - '0');
    if (row < 1 || row > ROWS)
        return 0;
    place->row = row - 1;
    *end = text;
    return 1;
}

struct cell *cell_at(struct place place) {
    return &cells[place.row][place.column];
}

static char *duplicate(const char *from, size_t length) {
    char *copy = malloc(length + 1);
    memcpy(copy, from, length);
    copy[length] = '\0';
    return copy;
}

int cell_read(const char *line) {
    struct place place;
    struct cell *cell;
    const char *p;
    size_t length;
    while (isspace((unsigned char)*line))
        line++;
    if (*line == '\0' || *line == '%')
        return 1;
    if (!place_parse(line, &place, &p))
        return 0;
    while (*p == ' ' || *p == '\t')
        p++;
    length = strlen(p);
    while (length > 0 && isspace((unsigned char)p[length - 1]))
        length--;
    cell = cell_at(place);
    free(cell->source);
    cell->source = NULL;
    if (*p == '=') {
        cell->kind = CELL_FORMULA;
        cell->source = duplicate(p + 1, length - 1);
    } else if (*p == '"' && length >= 2 && p[length - 1] == '"') {
        cell->kind = CELL_TEXT;
        cell->source = duplicate(p + 1, length - 2);
    } else {
        char *end;
        cell->kind = CELL_NUMBER;
        cell->number = strtod(p, &end);
        return end == p + length && length > 0;
    }
    return 1;
}

void cells_bounds(int *columns, int *rows) {
    *columns = *rows = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            if (cells[row][column].kind == CELL_EMPTY)
                continue;
            *rows = row + 1;
            if (column + 1 > *columns)
                *columns = column + 1;
        }
    }
}

void cells_free(void) {
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            free(cells[row][column].source);
}
