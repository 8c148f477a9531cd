#include "telem.h"

static const struct field fields[] = {
    { "bus", 2, 2, 0, 100, "V", 9, 32 },
    { "load", 4, 2, 1, 10, "A", -80, 80 },
    { "charge", 6, 1, 0, 2, "%", 0, 100 },
    { "cell", 7, 2, 0, 1000, "V", 2.5, 4.3 },
};

const struct group power_group = { POWER, "power", fields, sizeof fields / sizeof *fields };
