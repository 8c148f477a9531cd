#include "formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void skip(struct parser *parser) {
    while (*parser->at == ' ')
        parser->at++;
}

static int take(struct parser *parser, char c) {
    skip(parser);
    if (*parser->at != c)
        return 0;
    parser->at++;
    return 1;
}

static int parse_col(struct parser *parser, int *col) {
    if (!isupper((unsigned char)*parser->at))
        return 0;
    *col = *parser->at - 'A' + 1;
    parser->at++;
    return 1;
}

int parse_cell(struct parser *parser, int *row, int *col) {
    const char *start = parser->at;
    char *end;
    if (!parse_col(parser, col) || !isdigit((unsigned char)*parser->at)) {
        parser->at = start;
        return 0;
    }
    *row = (int)strtol(parser->at, &end, 10);
    parser->at = end;
    return 1;
}

static int parse_columns(struct parser *parser, struct area *area) {
    const char *start = parser->at;
    if (parse_col(parser, &area->left) && take(parser, ':') && parse_col(parser, &area->right)) {
        area->top = 1;
        if (area->right < area->left)
            return 0;
        area->bottom = parser->rows;
        return 1;
    }
    parser->at = start;
    return 0;
}

int parse_area(struct parser *parser, struct area *area) {
    skip(parser);
    if (parse_cell(parser, &area->top, &area->left)) {
        area->bottom = area->top;
        area->right = area->left;
        if (take(parser, ':'))
            return parse_cell(parser, &area->bottom, &area->right);
        return 1;
    }
    return parse_columns(parser, area);
}

static double parse_call(struct parser *parser, const char *start) {
    char name[16] = "";
    struct area area;
    double result = 0;
    size_t length = (size_t)(parser->at - start);

    if (length < sizeof name)
        memcpy(name, start, length);
    if (!take(parser, '(') || !parse_area(parser, &area) || !take(parser, ')'))
        parser->error = "#SYNTAX";
    else if (!apply(name, parser->sheet, &area, &result))
        parser->error = "#NAME";
    return result;
}

static double parse_atom(struct parser *parser) {
    const char *start;
    double value = 0;
    int row, col;
    char *end;

    skip(parser);
    start = parser->at;
    if (take(parser, '(')) {
        value = parse_sum(parser);
        if (!take(parser, ')'))
            parser->error = "#SYNTAX";
        return value;
    }
    if (take(parser, '-'))
        return -parse_atom(parser);
    if (parse_cell(parser, &row, &col)) {
        if (!eval_cell(parser->sheet, row, col, &value))
            parser->error = "#VALUE";
        return value;
    }
    if (isalpha((unsigned char)*start)) {
        while (isalpha((unsigned char)*parser->at))
            parser->at++;
        return parse_call(parser, start);
    }
    value = strtod(start, &end);
    if (end == start)
        parser->error = "#SYNTAX";
    parser->at = end;
    return value;
}

static double parse_product(struct parser *parser) {
    double value = parse_atom(parser);
    while (parser->error == NULL) {
        if (take(parser, '*')) {
            value *= parse_atom(parser);
        } else if (take(parser, '/')) {
            double by = parse_atom(parser);
            if (by == 0 && parser->error == NULL)
                parser->error = "#ZERO";
            else
                value /= by;
        } else {
            break;
        }
    }
    return value;
}

double parse_sum(struct parser *parser) {
    double value = parse_product(parser);
    while (parser->error == NULL) {
        if (take(parser, '+'))
            value += parse_product(parser);
        else if (take(parser, '-'))
            value -= parse_product(parser);
        else
            break;
    }
    return value;
}
