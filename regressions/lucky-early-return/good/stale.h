#ifndef STALE_H
#define STALE_H

#include "rules.h"

enum reason { UP_TO_DATE, MISSING, OLDER, NEEDS_REBUILT };

/* What is known about each target. */
struct staleness {
    enum reason reason[MAX_TARGETS];
    int cause[MAX_TARGETS]; /* the need that is to blame, or -1 */
    int level[MAX_TARGETS]; /* sources are at 0, the rest above their needs */
    int circular;
};

void stale_find(struct staleness *s, const struct rules *r);

const char *reason_name(enum reason reason);

#endif
