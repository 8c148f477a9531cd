#include "tasks.h"

#include <stdlib.h>
#include <string.h>

static unsigned hash(const char *name, size_t length) {
    unsigned value = 2166136261u;
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)name[i]) * 16777619u;
    return value;
}

static void place(struct symbols *symbols, int number) {
    const char *name = symbols->names[number];
    unsigned slot = hash(name, strlen(name)) % (unsigned)symbols->slot_count;
    while (symbols->slots[slot] >= 0)
        slot = (slot + 1) % (unsigned)symbols->slot_count;
    symbols->slots[slot] = number;
}

/* At most half of the slots are taken, so that searches stay short. */
static void grow(struct symbols *symbols) {
    if ((symbols->count + 1) * 2 <= symbols->slot_count)
        return;
    symbols->slot_count = symbols->slot_count ? symbols->slot_count * 2 : 64;
    symbols->slots = realloc(symbols->slots, (size_t)symbols->slot_count * sizeof *symbols->slots);
    for (int i = 0; i < symbols->slot_count; i++)
        symbols->slots[i] = -1;
    for (int i = 0; i < symbols->count; i++)
        place(symbols, i);
}

static int find(const struct symbols *symbols, const char *name, size_t length) {
    unsigned slot;
    if (symbols->slot_count == 0)
        return -1;
    slot = hash(name, length) % (unsigned)symbols->slot_count;
    while (symbols->slots[slot] >= 0) {
        const char *other = symbols->names[symbols->slots[slot]];
        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            return symbols->slots[slot];
        slot = (slot + 1) % (unsigned)symbols->slot_count;
    }
    return -1;
}

int symbols_intern(struct symbols *symbols, const char *name, size_t length) {
    int number = find(symbols, name, length);
    char *copy;
    if (number >= 0)
        return number;
    grow(symbols);
    if (symbols->count == symbols->names_room) {
        symbols->names_room = symbols->names_room ? symbols->names_room * 2 : 32;
        symbols->names = realloc(symbols->names, (size_t)symbols->names_room * sizeof *symbols->names);
    }
    copy = malloc(length + 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    symbols->names[symbols->count] = copy;
    place(symbols, symbols->count);
    return symbols->count++;
}

void symbols_free(struct symbols *symbols) {
    for (int i = 0; i < symbols->count; i++)
        free(symbols->names[i]);
    free(symbols->names);
    free(symbols->slots);
}
