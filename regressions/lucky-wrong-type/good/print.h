#ifndef PRINT_H
#define PRINT_H

#include <stdio.h>

#include "table.h"

struct look {
    const char *between; /* columns */
    int rule;            /* a line of these under the heading, or 0 */
};

void print_table(const struct table *t, const struct look *look, FILE *out);

#endif
