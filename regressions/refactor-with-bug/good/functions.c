/* Functions of areas. Cells without a number count for nothing. */
#include "formula.h"

#include <string.h>

static int number_at(struct sheet *sheet, int row, int col, double *value) {
    if (sheet_kind(sheet, row, col) == EMPTY)
        return 0;
    return eval_cell(sheet, row, col, value);
}

static double area_sum(struct sheet *sheet, const struct area *area) {
    double sum = 0, value;
    int row, col;
    for (row = area->top; row <= area->bottom; row++)
        for (col = area->left; col <= area->right; col++)
            if (number_at(sheet, row, col, &value))
                sum += value;
    return sum;
}

static double area_count(struct sheet *sheet, const struct area *area) {
    double count = 0, value;
    int row, col;
    for (row = area->top; row <= area->bottom; row++)
        for (col = area->left; col <= area->right; col++)
            if (number_at(sheet, row, col, &value))
                count++;
    return count;
}

static double area_blanks(struct sheet *sheet, const struct area *area) {
    double count = 0;
    int row, col;
    for (row = area->top; row <= area->bottom; row++)
        for (col = area->left; col <= area->right; col++)
            if (sheet_kind(sheet, row, col) == EMPTY)
                count++;
    return count;
}

static double area_min(struct sheet *sheet, const struct area *area) {
    double least = 0, value;
    int row, col, some = 0;
    for (row = area->top; row <= area->bottom; row++)
        for (col = area->left; col <= area->right; col++)
            if (number_at(sheet, row, col, &value) && (!some || value < least)) {
                least = value;
                some = 1;
            }
    return least;
}

static double area_max(struct sheet *sheet, const struct area *area) {
    double most = 0, value;
    int row, col, some = 0;
    for (row = area->top; row <= area->bottom; row++)
        for (col = area->left; col <= area->right; col++)
            if (number_at(sheet, row, col, &value) && (!some || value > most)) {
                most = value;
                some = 1;
            }
    return most;
}

/* The mean of the numbers, each weighed with the one to the right of the area. */
static double area_weighed(struct sheet *sheet, const struct area *area) {
    double sum = 0, weights = 0, value, weight;
    int row, col = area->left;
    for (row = area->top; row <= area->bottom; row++) {
        if (col > area->right)
            break;
        if (!number_at(sheet, row, col, &value))
            continue;
        if (!number_at(sheet, row, area->right + 1, &weight))
            weight = 1;
        sum += value * weight;
        weights += weight;
    }
    return weights != 0 ? sum / weights : 0;
}

static const struct {
    const char *name;
    double (*function)(struct sheet *sheet, const struct area *area);
} functions[] = {
    { "SUM", area_sum },
    { "COUNT", area_count },
    { "BLANKS", area_blanks },
    { "MIN", area_min },
    { "MAX", area_max },
    { "WEIGHED", area_weighed },
};

int apply(const char *name, struct sheet *sheet, const struct area *area, double *result) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            *result = functions[i].function(sheet, area);
            return 1;
        }
    }
    return 0;
}
