#ifndef RENDER_H
#define RENDER_H

#include "data.h"
#include "template.h"
#include "text.h"

/* Appends the template, filled in, to `output`. */
void render(struct node *node, const struct data *data, struct text *output);

#endif
