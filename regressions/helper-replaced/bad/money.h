#ifndef MONEY_H
#define MONEY_H

/* Prints cents as an amount. */
void money_print(const char *label, long cents);

/* What is there in whole cents. */
long money_truncate(double amount);

#endif
