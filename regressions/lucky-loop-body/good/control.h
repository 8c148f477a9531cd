#ifndef CONTROL_H
#define CONTROL_H

#include "screen.h"

#define MAX_PARAMETERS 8

/* The numbers of a control sequence. */
struct parameters {
    int count;
    int value[MAX_PARAMETERS];
};

/* A number of the sequence, or what it stands for if it is not given. */
int parameter(const struct parameters *p, int index, int fallback);

/* Obeys `ESC [ ... final`; returns 0 if it is unknown. */
int control_sequence(struct screen *s, const struct parameters *p, char final);

#endif
