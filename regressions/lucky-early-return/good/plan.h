#ifndef PLAN_H
#define PLAN_H

#include <stdio.h>

#include "rules.h"
#include "stale.h"

struct step {
    int target;
    int level;
    int number; /* in which it was asked for */
};

/* Steps in which things are built. */
struct plan {
    struct step steps[MAX_TARGETS];
    int count;
    int dirty; /* steps are not in order */
};

void plan_init(struct plan *p);
void plan_add(struct plan *p, int target, int level);

/* Steps for all that is stale. */
void plan_make(struct plan *p, const struct rules *r, const struct staleness *s);

/* Puts the steps in the order in which they can be taken: by level, within
   a level in the order in which they were asked for. */
void plan_arrange(struct plan *p, const struct rules *r);

void plan_print(const struct plan *p, const struct rules *r, const struct staleness *s, FILE *out);

#endif
