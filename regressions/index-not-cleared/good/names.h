#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

/* Names in the order they came, and an index over them by hash. */
struct names {
    char **list;
    size_t count, room;
    size_t *cells;
    size_t cell_count;
};

int names_open(struct names *names, size_t room);
int names_add(struct names *names, const char *name);
int names_has(const struct names *names, const char *name);
void names_clear(struct names *names);
void names_close(struct names *names);

#endif
