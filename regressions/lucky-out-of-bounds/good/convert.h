#ifndef CONVERT_H
#define CONVERT_H

#include "channel.h"
#include "frame.h"

/* The mean of a frame's samples in hundredths of the channel's unit. */
int convert(enum channel c, const struct frame *f);

/* Sets what a count is worth, and the step to which values are rounded. */
void convert_calibrate(enum channel c, int hundredths, int rounding);

#endif
