/* Numbers by numbers: open addressing, linear probing. */
#ifndef TABLE_H
#define TABLE_H

#include "heap.h"

enum slot_state { SLOT_EMPTY, SLOT_REMOVED, SLOT_USED };

struct slot {
    enum slot_state state;
    int key;
    int value;
};

struct table {
    struct slot *slots;
    unsigned capacity;
    unsigned count;
};

void table_set(struct table *table, struct heap *heap, int key, int value);
int table_remove(struct table *table, struct heap *heap, int key);
int table_has(const struct table *table, int key);
void table_clear(struct table *table, struct heap *heap);

#endif
