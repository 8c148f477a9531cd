/* Sorts rows by the numbers of a column; rows without a number come last. */
#include "sheet.h"

static int before(const struct sheet *sheet, int first, int second, int col) {
    double a, b;
    if (!sheet_get_number(sheet, first, col, &a))
        return 0;
    if (!sheet_get_number(sheet, second, col, &b))
        return 1;
    return a < b;
}

void sort_rows(struct sheet *sheet, int col, int from) {
    int last = sheet_rows(sheet);
    for (int row = from + 1; row <= last; row++)
        for (int at = row; at > from && before(sheet, at, at - 1, col); at--)
            sheet_swap_rows(sheet, at, at - 1);
}
