#ifndef CHANNEL_H
#define CHANNEL_H

/* What is measured. */
enum channel {
    TEMPERATURE,
    PRESSURE,
    HUMIDITY,
    WIND,
    LIGHT,
    BATTERY,
    RAIN,
    SOIL,
    CHANNELS
};

/* From the code on the wire; CHANNELS if there is none like it. */
enum channel channel_of_code(int code);

const char *channel_name(enum channel c);
const char *channel_unit(enum channel c);

/* From the name; CHANNELS if there is none like it. */
enum channel channel_named(const char *name);

#endif
