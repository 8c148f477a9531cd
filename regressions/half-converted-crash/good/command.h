#ifndef COMMAND_H
#define COMMAND_H

#include <stdio.h>

#include "table.h"

struct session {
    struct table table;
    long now;
    FILE *out;
};

void session_open(struct session *s, FILE *out);
void session_close(struct session *s);

/* Obeys one line; returns 0 if it is not understood. */
int session_obey(struct session *s, char *line);

#endif
