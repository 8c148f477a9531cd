#ifndef LINES_H
#define LINES_H

#include "buffer.h"

/* The columns that a text may fill. */
struct frame {
    int left;
    int width;
};

/* Sets words in lines; the first line goes on where `out` stands, at `column`. */
void lines_set(struct buffer *out, const char *text, int column, const struct frame *frame);

#endif
