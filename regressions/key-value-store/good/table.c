/* A hash table with open addressing. A deleted key leaves its slot marked as gone,
 * until the table is copied into a larger one. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const char *key) {
    size_t h = 0;
    while (*key)
        h = h * 131 + (unsigned char)*key++;
    return h;
}

void table_init(struct table *table, size_t size) {
    table->slots = calloc(size, sizeof *table->slots);
    table->size = size;
    table->filled = 0;
    table->live = 0;
}

/* The slot of a key, or the empty one where it would go. */
static struct slot *probe(struct table *table, const char *key) {
    size_t i = hash(key) % table->size;
    for (;;) {
        struct slot *slot = &table->slots[i];
        if (slot->state == EMPTY)
            return slot;
        if (strcmp(slot->key, key) == 0)
            return slot;
        i = (i + 1) % table->size;
    }
}

static void insert(struct table *table, const char *key, long value) {
    struct slot *slot = probe(table, key);
    if (slot->state == EMPTY)
        table->filled++;
    if (slot->state != LIVE)
        table->live++;
    slot->state = LIVE;
    strncpy(slot->key, key, sizeof slot->key - 1);
    slot->value = value;
}

static void grow(struct table *table) {
    struct table larger;
    table_init(&larger, table->size * 2);
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].state == EMPTY)
            continue;
        if (table->slots[i].state != LIVE)
            continue;
        insert(&larger, table->slots[i].key, table->slots[i].value);
    }
    free(table->slots);
    *table = larger;
}

struct slot *table_find(struct table *table, const char *key) {
    struct slot *slot = probe(table, key);
    return slot->state == LIVE ? slot : NULL;
}

void table_set(struct table *table, const char *key, long value) {
    if ((table->filled + 1) * 4 > table->size * 3)
        grow(table);
    insert(table, key, value);
}

int table_delete(struct table *table, const char *key) {
    struct slot *slot = table_find(table, key);
    if (slot == NULL)
        return 0;
    slot->state = GONE;
    table->live--;
    return 1;
}

void table_free(struct table *table) {
    free(table->slots);
    table->slots = NULL;
}
