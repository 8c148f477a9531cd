#include "fixed.h"

#include <ctype.h>

int fixed_parse(const char *text, fixed *value) {
    int negative = *text == '-';
    fixed whole = 0, part = 0;
    long worth = UNIT;
    if (negative)
        text++;
    if (!isdigit((unsigned char)*text))
        return 0;
    for (; isdigit((unsigned char)*text); text++)
        whole = whole * 10 + (*text - '0');
    if (*text == '.') {
        for (text++; isdigit((unsigned char)*text); text++) {
            worth /= 10;
            part += worth * (*text - '0');
        }
    }
    *value = whole * UNIT + part;
    if (negative)
        *value = -*value;
    return *text == '\0';
}

fixed fixed_divide(fixed a, long b) {
    if (b == 0)
        return 0;
    if (a < 0)
        return -((-a * 2 + b) / (2 * b));
    return (a * 2 + b) / (2 * b);
}
