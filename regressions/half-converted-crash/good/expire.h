#ifndef EXPIRE_H
#define EXPIRE_H

#include "table.h"

/* Lets a record expire after some time; returns 0 if there is none. */
int expire_after(struct table *t, const char *key, long now, long time);

/* Time a record still has: -1 if it does not expire, -2 if there is none. */
long expire_left(struct table *t, const char *key, long now);

/* Deletes what has expired; returns how many records. */
int expire_sweep(struct table *t, long now);

#endif
