/* When a schedule is due. */
#ifndef NEXT_H
#define NEXT_H

#include "moment.h"
#include "schedule.h"

/* Moves `moment` to the first time after it. Returns 0 if there is none within 30 years. */
int next_due(const struct schedule *schedule, struct moment *moment);

#endif
