#ifndef AUDIT_H
#define AUDIT_H

#include "ledger.h"

/* Checks all assertions, prints those that do not hold, returns how many. */
int audit_run(const struct ledger *l, FILE *out);

#endif
