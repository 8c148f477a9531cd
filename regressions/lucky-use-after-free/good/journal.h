#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdio.h>

#include "event.h"

struct journal {
    FILE *out;
    int lines;
    int quiet; /* only what has a label */
};

void journal_open(struct journal *j, FILE *out);

/* Writes down that an event has taken place. */
void journal_note(struct journal *j, const struct event *e);

#endif
