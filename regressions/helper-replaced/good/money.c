#include "money.h"

#include <math.h>
#include <stdio.h>

long money_round(double amount) {
    return lround(amount * 100.0);
}

void money_print(const char *label, long cents) {
    const char *sign = "";
    if (cents < 0) {
        sign = "-";
        cents = -cents;
    }
    printf("%-12s %s%ld.%02ld\n", label, sign, cents / 100, cents % 100);
}
