#ifndef METER_H
#define METER_H

#include "fixed.h"

/* Follows one level: means over windows, and the largest of them. */
struct meter {
    int window; /* samples in one */
    int filled; /* samples in the one that is open */
    int closed; /* windows so far */
    fixed sum;  /* of the open window */
    fixed mean; /* of the last window that was closed */
    fixed peak; /* the largest mean */
    fixed before; /* the mean before the last */
};

void meter_init(struct meter *m, int window);
void meter_add(struct meter *m, fixed sample);

/* Closes the last window, full or not. */
void meter_finish(struct meter *m);

/* -1, 0 or 1 as the last mean is below, at or above the one before. */
int meter_trend(const struct meter *m);

#endif
