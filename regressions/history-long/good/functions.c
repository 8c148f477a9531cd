#include "calc.h"

#include <stdlib.h>
#include <string.h>

void arguments_add(struct arguments *arguments, double value) {
    if (arguments->count == arguments->room) {
        arguments->room = arguments->room ? arguments->room * 2 : 8;
        arguments->values = realloc(arguments->values, (size_t)arguments->room * sizeof(double));
    }
    arguments->values[arguments->count++] = value;
}

static double sum(const struct arguments *arguments) {
    double total = 0;
    for (int i = 0; i < arguments->count; i++)
        total += arguments->values[i];
    return total;
}

static double extreme(const struct arguments *arguments, int sign) {
    double best = arguments->count ? arguments->values[0] : 0;
    for (int i = 1; i < arguments->count; i++)
        if ((arguments->values[i] - best) * sign > 0)
            best = arguments->values[i];
    return best;
}

double function_call(const char *name, const struct arguments *arguments, enum fault *fault) {
    if (strcmp(name, "SUM") == 0)
        return sum(arguments);
    if (strcmp(name, "MIN") == 0)
        return extreme(arguments, -1);
    if (strcmp(name, "MAX") == 0)
        return extreme(arguments, 1);
    if (strcmp(name, "COUNT") == 0)
        return arguments->cells;
    if (strcmp(name, "AVG") == 0) {
        if (arguments->count == 0) {
            *fault = FAULT_DIVISION;
            return 0;
        }
        return sum(arguments) / arguments->count;
    }
    *fault = FAULT_NAME;
    return 0;
}
