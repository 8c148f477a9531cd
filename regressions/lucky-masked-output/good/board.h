#ifndef BOARD_H
#define BOARD_H

#include <stdio.h>

#include "meter.h"

#define MAX_CHANNELS 16

struct channel {
    char name[16];
    struct meter meter;
};

/* All channels, in the order in which they first appear. */
struct board {
    struct channel channels[MAX_CHANNELS];
    int count;
    int window;
    int problems;
};

void board_init(struct board *b, int window);

/* Reads lines `CHANNEL LEVEL`. */
void board_read(struct board *b, FILE *in);

#endif
