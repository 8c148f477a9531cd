#ifndef LAYOUT_H
#define LAYOUT_H

#include "buffer.h"
#include "reader.h"
#include "style.h"

/* Lays the whole document out; what comes out goes to `out`. */
void layout(const struct document *doc, struct buffer *out);

#endif
