#include "telem.h"

static const struct field fields[] = {
    { .name = "speed", .offset = 2, .width = 2, .divisor = 4, .unit = "rpm", .low = 0, .high = 8000 },
    { .name = "oil", .offset = 4, .width = 1, .is_signed = 1, .divisor = 1, .unit = "C", .low = -30, .high = 120 },
    { .name = "water", .offset = 5, .width = 1, .is_signed = 1, .divisor = 1, .unit = "C", .low = -30, .high = 105 },
    { .name = "fuel", .offset = 6, .width = 2, .divisor = 10, .unit = "l/h", .low = 0, .high = 60 },
    { .name = "hours", .offset = 8, .width = 4, .divisor = 10, .unit = "h", .low = 0, .high = 100000 },
};

const struct group engine_group = { ENGINE, "engine", fields, sizeof fields / sizeof *fields };
