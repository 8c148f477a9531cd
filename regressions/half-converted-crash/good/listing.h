#ifndef LISTING_H
#define LISTING_H

#include <stdio.h>

#include "table.h"

/* Prints all records in the order of their keys. */
void listing_print(const struct table *t, FILE *out);

void listing_statistics(const struct table *t, FILE *out);

#endif
