#include "sheet.h"

#include <string.h>

static void show(const struct sheet *sheet, int row, int col, char *text, size_t size) {
    double number;
    if (sheet_get_number(sheet, row, col, &number))
        snprintf(text, size, "%g", number);
    else
        snprintf(text, size, "%s", sheet_get_text(sheet, row, col));
}

void print_widths(const struct sheet *sheet, int *widths) {
    char text[64];
    for (int col = 1; col <= sheet_cols(sheet); col++) {
        widths[col] = 1;
        for (int row = 1; row <= sheet_rows(sheet); row++) {
            int length;
            show(sheet, row, col, text, sizeof text);
            length = (int)strlen(text);
            if (length > widths[col])
                widths[col] = length;
        }
    }
}

static int is_right(const struct sheet *sheet, int row, int col) {
    enum kind kind = sheet_kind(sheet, row, col);
    return kind == NUMBER || kind == ERROR;
}

void print_sheet(const struct sheet *sheet, FILE *out) {
    int widths[MOST_COLS + 1];
    char text[64];

    print_widths(sheet, widths);
    for (int row = 1; row <= sheet_rows(sheet); row++) {
        for (int col = 1; col <= sheet_cols(sheet); col++) {
            int width = widths[col];
            show(sheet, row, col, text, sizeof text);
            if (is_right(sheet, row, col))
                fprintf(out, "%*s", width, text);
            else
                fprintf(out, "%-*s", width, text);
            fputs(col < sheet_cols(sheet) ? " | " : "\n", out);
        }
    }
}
