/* Brackets of a text, opened and closed. */
#ifndef OUTLINE_H
#define OUTLINE_H

#include <stddef.h>

struct outline {
    char *open;     /* the brackets that are open, innermost last */
    size_t depth;
    size_t room;
    size_t deepest;
};

void outline_start(struct outline *outline);
int outline_take(struct outline *outline, char sign);
void outline_reset(struct outline *outline);
void outline_end(struct outline *outline);

#endif
