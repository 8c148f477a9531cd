#ifndef MONEY_H
#define MONEY_H

/* To the next cent, halves away from zero. */
long money_round(double amount);

/* Prints cents as an amount. */
void money_print(const char *label, long cents);

#endif
