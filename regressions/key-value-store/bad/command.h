#ifndef COMMAND_H
#define COMMAND_H

#include "table.h"

/* Carries out one line; 0 if it makes sense, -1 if not. */
int command(struct table *table, char *line);

#endif
