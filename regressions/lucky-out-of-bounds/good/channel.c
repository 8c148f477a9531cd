#include "channel.h"

#include <string.h>

enum channel channel_of_code(int code) {
    switch (code) {
    case 0x01:
        return TEMPERATURE;
    case 0x02:
        return PRESSURE;
    case 0x03:
        return HUMIDITY;
    case 0x10:
        return WIND;
    case 0x20:
        return LIGHT;
    case 0x30:
        return BATTERY;
    case 0x40:
        return RAIN;
    case 0x41:
        return SOIL;
    default:
        return CHANNELS;
    }
}

static const char *const names[][2] = {
    {"temperature", "C"},
    {"pressure", "hPa"},
    {"humidity", "%"},
    {"wind", "m/s"},
    {"light", "lx"},
    {"battery", "V"},
    {"rain", "mm"},
    {"soil", "%"},
};

const char *channel_name(enum channel c) {
    return c < CHANNELS ? names[c][0] : "?";
}

const char *channel_unit(enum channel c) {
    return c < CHANNELS ? names[c][1] : "?";
}

enum channel channel_named(const char *name) {
    int c;
    for (c = 0; c < CHANNELS; c++)
        if (strcmp(names[c][0], name) == 0)
            return (enum channel)c;
    return CHANNELS;
}
