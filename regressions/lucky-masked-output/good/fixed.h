#ifndef FIXED_H
#define FIXED_H

/* Numbers with a fixed number of decimals, as integers. */
typedef long fixed;

/* What stands for 1. */
#define UNIT 10

/* Reads `12`, `0.5` or `-3.25`, as precisely as it can be kept;
   returns 0 if it is no number. */
int fixed_parse(const char *text, fixed *value);

/* Halves go away from zero. */
fixed fixed_divide(fixed a, long b);

#endif
