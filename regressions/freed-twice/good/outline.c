#include "outline.h"

#include <stdlib.h>

void outline_start(struct outline *outline)
{
    outline->open = NULL;
    outline->depth = outline->room = outline->deepest = 0;
}

static int is_partner(char open, char close)
{
    return (open == '(' && close == ')') || (open == '[' && close == ']');
}

static int push(struct outline *outline, char sign)
{
    if (outline->depth == outline->room) {
        size_t room = outline->room ? 2 * outline->room : 24;
        char *larger = realloc(outline->open, room);
        if (!larger)
            return 0;
        outline->open = larger;
        outline->room = room;
    }
    outline->open[outline->depth++] = sign;
    if (outline->depth > outline->deepest)
        outline->deepest = outline->depth;
    return 1;
}

int outline_take(struct outline *outline, char sign)
{
    switch (sign) {
    case '(':
    case '[':
        return push(outline, sign);
    case ')':
    case ']':
        if (!outline->depth || !is_partner(outline->open[outline->depth - 1], sign))
            return 0;
        outline->depth--;
        return 1;
    default:
        return 1;
    }
}

void outline_reset(struct outline *outline)
{
    outline->depth = 0;
    outline->deepest = 0;
}

void outline_end(struct outline *outline)
{
    free(outline->open);
}
