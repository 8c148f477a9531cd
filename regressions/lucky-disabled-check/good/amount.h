#ifndef AMOUNT_H
#define AMOUNT_H

/* Reads `12`, `-3.5` or `1204.99` as hundredths; returns 0 if it is no amount. */
int amount_parse(const char *text, long *amount);

/* Writes it with two decimals. */
void amount_write(long amount, char *text, int room);

#endif
