#include "telem.h"

static const struct field fields[] = {
    { .name = "north", .offset = 2, .width = 4, .is_signed = 1, .divisor = 100000, .unit = "deg", .low = -90, .high = 90 },
    { .name = "east", .offset = 6, .width = 4, .is_signed = 1, .divisor = 100000, .unit = "deg", .low = -180, .high = 180 },
    { .name = "height", .offset = 10, .width = 2, .is_signed = 1, .divisor = 1, .unit = "m", .low = -500, .high = 9000 },
    { .name = "course", .offset = 12, .width = 2, .divisor = 10, .unit = "deg", .low = 0, .high = 360 },
    { .name = "speed", .offset = 14, .width = 2, .divisor = 100, .unit = "m/s", .low = 0, .high = 90 },
};

const struct group position_group = { POSITION, "position", fields, sizeof fields / sizeof *fields };
