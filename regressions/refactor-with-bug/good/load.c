/* Reads cells that are separated by commas, a row to a line. */
#include "sheet.h"

#include <stdlib.h>
#include <string.h>

static int load_cell(struct sheet *sheet, int row, int col, const char *text) {
    char *end;
    double number;

    if (*text == '\0')
        return 0;
    if (*text == '=')
        return sheet_set_text(sheet, row, col, FORMULA, text);
    number = strtod(text, &end);
    if (*end == '\0')
        return sheet_set_number(sheet, row, col, number);
    return sheet_set_text(sheet, row, col, TEXT, text);
}

int load(struct sheet *sheet, FILE *in) {
    char line[512];
    int row = 1;

    while (fgets(line, sizeof line, in)) {
        char *at = line;
        int col = 1;
        line[strcspn(line, "\r\n")] = '\0';
        for (;;) {
            char *comma = strchr(at, ',');
            if (comma)
                *comma = '\0';
            if (load_cell(sheet, row, col, at) != 0)
                return -1;
            if (comma == NULL)
                break;
            at = comma + 1;
            col++;
        }
        row++;
    }
    return 0;
}
