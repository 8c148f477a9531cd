/* Formulas are evaluated while they are read. */
#include "calc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    enum fault fault;
};

static double comparison(struct reader *reader);

static void fail(struct reader *reader, enum fault fault) {
    if (reader->fault == FAULT_NONE)
        reader->fault = fault;
}

static void skip(struct reader *reader) {
    while (*reader->at == ' ')
        reader->at++;
}

static int accept(struct reader *reader, char c) {
    skip(reader);
    if (*reader->at != c)
        return 0;
    reader->at++;
    return 1;
}

static double value_at(struct reader *reader, struct place place) {
    enum fault fault = FAULT_NONE;
    double value = cell_value(cell_at(place), &fault);
    if (fault != FAULT_NONE)
        fail(reader, fault);
    return value;
}

/* `B2`, or `B2:C5` as an argument. */
static int range(struct reader *reader, struct arguments *arguments) {
    struct place from, to, place;
    const char *p = reader->at;
    if (!place_parse(p, &from, &p) || *p != ':')
        return 0;
    if (!place_parse(p + 1, &to, &p) || to.row < from.row || to.column < from.column) {
        fail(reader, FAULT_RANGE);
        return 1;
    }
    reader->at = p;
    for (place.row = from.row; place.row <= to.row; place.row++) {
        for (place.column = from.column; place.column <= to.column; place.column++) {
            struct cell *cell = cell_at(place);
            if (cell->kind != CELL_NUMBER && cell->kind != CELL_FORMULA)
                continue;
            arguments_add(arguments, value_at(reader, place));
            arguments->cells++;
        }
    }
    return 1;
}

static double call(struct reader *reader, const char *name) {
    struct arguments arguments = {NULL, 0, 0, 0};
    enum fault fault = FAULT_NONE;
    double value;
    if (!accept(reader, ')')) {
        do {
            skip(reader);
            if (!range(reader, &arguments)) {
                arguments_add(&arguments, comparison(reader));
                arguments.cells++;
            }
        } while (reader->fault == FAULT_NONE && accept(reader, ','));
        if (reader->fault == FAULT_NONE && !accept(reader, ')'))
            fail(reader, FAULT_SYNTAX);
    }
    value = function_call(name, &arguments, &fault);
    if (fault != FAULT_NONE)
        fail(reader, fault);
    free(arguments.values);
    return value;
}

static double primary(struct reader *reader) {
    struct place place;
    char name[16];
    size_t length = 0;
    char *end;
    double value;
    skip(reader);
    if (accept(reader, '(')) {
        value = comparison(reader);
        if (!accept(reader, ')'))
            fail(reader, FAULT_SYNTAX);
        return value;
    }
    if (place_parse(reader->at, &place, &reader->at))
        return value_at(reader, place);
    if (isalpha((unsigned char)*reader->at)) {
        while (isalpha((unsigned char)*reader->at)) {
            if (length + 1 < sizeof name)
                name[length++] = (char)toupper((unsigned char)*reader->at);
            reader->at++;
        }
        name[length] = '\0';
        if (accept(reader, '('))
            return call(reader, name);
        fail(reader, FAULT_NAME);
        return 0;
    }
    value = strtod(reader->at, &end);
    if (end == reader->at)
        fail(reader, FAULT_SYNTAX);
    reader->at = end;
    return value;
}

static double power(struct reader *reader) {
    double left;
    if (accept(reader, '-'))
        return -power(reader);
    left = primary(reader);
    if (accept(reader, '^'))
        return pow(left, power(reader));
    return left;
}

static double product(struct reader *reader) {
    double left = power(reader);
    for (;;) {
        if (accept(reader, '*')) {
            left *= power(reader);
        } else if (accept(reader, '/')) {
            double right = power(reader);
            if (right == 0)
                fail(reader, FAULT_DIVISION);
            else
                left /= right;
        } else {
            return left;
        }
    }
}

static double sum(struct reader *reader) {
    double left = product(reader);
    for (;;) {
        if (accept(reader, '+'))
            left += product(reader);
        else if (accept(reader, '-'))
            left -= product(reader);
        else
            return left;
    }
}

static double comparison(struct reader *reader) {
    double left = sum(reader);
    if (accept(reader, '<'))
        return left < sum(reader);
    if (accept(reader, '>'))
        return left > sum(reader);
    if (accept(reader, '='))
        return left == sum(reader);
    return left;
}

double cell_value(struct cell *cell, enum fault *fault) {
    struct reader reader = {cell->source, FAULT_NONE};
    double value;
    if (cell->kind != CELL_FORMULA)
        return cell->kind == CELL_NUMBER ? cell->number : 0;
    if (cell->active) {
        *fault = FAULT_CYCLE;
        return 0;
    }
    cell->active = 1;
    value = comparison(&reader);
    cell->active = 0;
    skip(&reader);
    if (*reader.at != '\0')
        fail(&reader, FAULT_SYNTAX);
    *fault = reader.fault;
    return value;
}
