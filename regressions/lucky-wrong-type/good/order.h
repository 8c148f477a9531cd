#ifndef ORDER_H
#define ORDER_H

#include "table.h"

struct order {
    int column; /* from 1; 0: as they came */
    int numeric;
    int downwards;
};

/* Reads `3`, `3n` or `3nr`; returns 0 if it is something else. */
int order_parse(struct order *o, const char *text);

/* Orders rows; equal ones stay as they are. */
void order_rows(struct table *t, const struct order *o);

#endif
