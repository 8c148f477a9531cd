#include "names.h"

#include <stdlib.h>
#include <string.h>

#define NO_CELL ((size_t)-1)
#define EMPTY ((size_t)-1)

static size_t hash(const char *name)
{
    size_t sum = 5381;
    while (*name)
        sum = sum * 33 + (unsigned char)*name++;
    return sum;
}

/* The cell of a name, or an empty one for it. */
static size_t cell_of(const struct names *names, const char *name, int *found)
{
    size_t start = hash(name) % names->cell_count;
    *found = 0;
    for (size_t step = 0; step < names->cell_count; step++) {
        size_t cell = (start + step) % names->cell_count;
        size_t at = names->cells[cell];
        if (at == EMPTY)
            return cell;
        if (at < names->count && strcmp(names->list[at], name) == 0) {
            *found = 1;
            return cell;
        }
    }
    return NO_CELL;
}

static void forget_cells(struct names *names)
{
    for (size_t cell = 0; cell < names->cell_count; cell++)
        names->cells[cell] = EMPTY;
}

int names_open(struct names *names, size_t room)
{
    names->count = 0;
    names->room = room;
    names->cell_count = room + 1;
    names->list = malloc(room * sizeof *names->list);
    names->cells = malloc(names->cell_count * sizeof *names->cells);
    if (!names->list || !names->cells)
        return 0;
    forget_cells(names);
    return 1;
}

int names_add(struct names *names, const char *name)
{
    int found;
    size_t cell = cell_of(names, name, &found);
    if (found)
        return 0;
    if (names->count == names->room)
        return -1;
    names->list[names->count] = strdup(name);
    names->cells[cell] = names->count;
    names->count++;
    return 1;
}

int names_has(const struct names *names, const char *name)
{
    int found;
    cell_of(names, name, &found);
    return found;
}

void names_clear(struct names *names)
{
    for (size_t at = 0; at < names->count; at++)
        free(names->list[at]);
    names->count = 0;
    forget_cells(names);
}

void names_close(struct names *names)
{
    names_clear(names);
    free(names->cells);
    free(names->list);
}
