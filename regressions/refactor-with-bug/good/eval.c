#include "formula.h"

#include <stddef.h>

static int eval_formula(struct sheet *sheet, int row, int col, double *value) {
    struct parser parser;

    parser.sheet = sheet;
    parser.at = sheet_get_text(sheet, row, col) + 1;
    parser.rows = sheet_rows(sheet);
    parser.error = NULL;
    *value = parse_sum(&parser);
    if (parser.error == NULL && *parser.at != '\0')
        parser.error = "#SYNTAX";
    if (parser.error != NULL) {
        sheet_set_text(sheet, row, col, ERROR, parser.error);
        return 0;
    }
    sheet_set_number(sheet, row, col, *value);
    return 1;
}

int eval_cell(struct sheet *sheet, int row, int col, double *value) {
    int done;

    if (sheet_is_busy(sheet, row, col))
        return 0;
    switch (sheet_kind(sheet, row, col)) {
    case NUMBER:
        return sheet_get_number(sheet, row, col, value);
    case FORMULA:
        sheet_set_busy(sheet, row, col, 1);
        done = eval_formula(sheet, row, col, value);
        sheet_set_busy(sheet, row, col, 0);
        return done;
    case EMPTY:
        *value = 0;
        return 1;
    default:
        return 0;
    }
}

void eval_sheet(struct sheet *sheet) {
    double value;
    for (int row = 1; row <= sheet_rows(sheet); row++)
        for (int col = 1; col <= sheet_cols(sheet); col++)
            if (sheet_kind(sheet, row, col) == FORMULA)
                eval_cell(sheet, row, col, &value);
}
