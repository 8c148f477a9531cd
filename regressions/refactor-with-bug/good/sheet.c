#include "sheet.h"

#include <stdlib.h>
#include <string.h>

struct sheet *sheet_new(void) {
    return calloc(1, sizeof(struct sheet));
}

static int inside(int row, int col) {
    return row >= 1 && row <= MOST_ROWS && col >= 1 && col <= MOST_COLS;
}

static int index_of(int row, int col) {
    return (row - 1) * MOST_COLS + (col - 1);
}

void sheet_free(struct sheet *sheet) {
    for (int i = 0; i < MOST_ROWS * MOST_COLS; i++)
        free(sheet->slots[i].text);
    free(sheet);
}

int sheet_rows(const struct sheet *sheet) {
    return sheet->rows;
}

int sheet_cols(const struct sheet *sheet) {
    return sheet->cols;
}

enum kind sheet_kind(const struct sheet *sheet, int row, int col) {
    if (!inside(row, col))
        return EMPTY;
    return sheet->slots[index_of(row, col)].kind;
}

int sheet_get_number(const struct sheet *sheet, int row, int col, double *number) {
    if (sheet_kind(sheet, row, col) != NUMBER)
        return 0;
    *number = sheet->slots[index_of(row, col)].number;
    return 1;
}

const char *sheet_get_text(const struct sheet *sheet, int row, int col) {
    const char *text;
    if (!inside(row, col))
        return "";
    text = sheet->slots[index_of(row, col)].text;
    return text ? text : "";
}

static void reach(struct sheet *sheet, int row, int col) {
    if (row > sheet->rows)
        sheet->rows = row;
    if (col > sheet->cols)
        sheet->cols = col;
}

int sheet_set_number(struct sheet *sheet, int row, int col, double number) {
    struct slot *slot;
    if (!inside(row, col))
        return -1;
    slot = &sheet->slots[index_of(row, col)];
    slot->kind = NUMBER;
    slot->number = number;
    reach(sheet, row, col);
    return 0;
}

int sheet_set_text(struct sheet *sheet, int row, int col, enum kind kind, const char *text) {
    struct slot *slot;
    char *copy;
    if (!inside(row, col))
        return -1;
    slot = &sheet->slots[index_of(row, col)];
    copy = malloc(strlen(text) + 1);
    if (copy == NULL)
        return -1;
    strcpy(copy, text);
    free(slot->text);
    slot->text = copy;
    slot->kind = kind;
    reach(sheet, row, col);
    return 0;
}

int sheet_is_busy(const struct sheet *sheet, int row, int col) {
    return inside(row, col) && sheet->slots[index_of(row, col)].busy;
}

void sheet_set_busy(struct sheet *sheet, int row, int col, int busy) {
    if (inside(row, col))
        sheet->slots[index_of(row, col)].busy = busy;
}

void sheet_swap_rows(struct sheet *sheet, int first, int second) {
    for (int col = 1; col <= sheet->cols; col++) {
        struct slot kept = sheet->slots[index_of(first, col)];
        sheet->slots[index_of(first, col)] = sheet->slots[index_of(second, col)];
        sheet->slots[index_of(second, col)] = kept;
    }
}
