#ifndef STATION_H
#define STATION_H

#include <stdio.h>

#include "channel.h"

#define MAX_STATIONS 16

struct station {
    int number;
    int seen[CHANNELS]; /* how often */
    int last[CHANNELS];
    int least[CHANNELS];
    int most[CHANNELS];
};

struct stations {
    struct station list[MAX_STATIONS];
    int count;
};

/* Notes a value; returns 0 if there are too many stations. */
int stations_note(struct stations *s, int number, enum channel c, int value);

void stations_print(const struct stations *s, FILE *out);

#endif
