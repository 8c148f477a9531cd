#include "amount.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int amount_parse(const char *text, long *amount) {
    int negative = *text == '-';
    int decimals = 0;
    long value = 0;
    if (negative)
        text++;
    if (!isdigit((unsigned char)*text))
        return 0;
    while (isdigit((unsigned char)*text))
        value = value * 10 + (*text++ - '0');
    if (*text == '.') {
        text++;
        while (isdigit((unsigned char)*text) && decimals < 2) {
            value = value * 10 + (*text++ - '0');
            decimals++;
        }
    }
    for (; decimals < 2; decimals++)
        value *= 10;
    *amount = negative ? -value : value;
    return *text == '\0';
}

void amount_write(long amount, char *text, int room) {
    snprintf(text, (unsigned)room, "%s%ld.%02ld", amount < 0 ? "-" : "", labs(amount) / 100, labs(amount) % 100);
}
