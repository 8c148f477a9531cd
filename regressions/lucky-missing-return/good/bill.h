#ifndef BILL_H
#define BILL_H

#include "meeting.h"

struct tariff {
    int step; /* minutes are paid in multiples of this, 0: each counts */
    int rate; /* cents per hour */
};

/* Up to a multiple of the step. */
int round_up(int minutes, int step);

/* Finds the minutes of a meeting that are paid. */
void bill_meeting(struct meeting *m, const struct tariff *t);

/* What minutes cost, in cents. */
long bill_cost(int minutes, const struct tariff *t);

#endif
