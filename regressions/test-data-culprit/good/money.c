#include "ledger.h"

#include <ctype.h>
#include <stdlib.h>

int money_parse(const char *text, long *cents) {
    long whole = 0, part = 0;
    int negative = *text == '-', digits = 0;
    if (negative)
        text++;
    if (!isdigit((unsigned char)*text))
        return 0;
    while (isdigit((unsigned char)*text))
        whole = whole * 10 + (*text++ - '0');
    if (*text == '.') {
        text++;
        for (; isdigit((unsigned char)*text) && digits < 2; digits++)
            part = part * 10 + (*text++ - '0');
        if (digits == 1)
            part *= 10;
    }
    if (*text != '\0')
        return 0;
    *cents = whole * 100 + part;
    if (negative)
        *cents = -*cents;
    return 1;
}

void money_format(long cents, char *text, size_t room) {
    snprintf(text, room, "%s%ld.%02ld", cents < 0 ? "-" : "", labs(cents) / 100, labs(cents) % 100);
}
