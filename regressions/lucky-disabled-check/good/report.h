#ifndef REPORT_H
#define REPORT_H

#include "ledger.h"

enum { REPORT_NAMES = 1, REPORT_EMPTY = 2 };

/* Prints what accounts hold. */
void report_balances(const struct ledger *l, int options, FILE *out);

#endif
