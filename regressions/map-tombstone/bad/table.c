#include "table.h"

#include <stddef.h>

static unsigned hash(int key)
{
    unsigned bits = (unsigned)key;
    bits ^= bits >> 16;
    return bits & 0x7fffffff;
}

/* Looks for the slot of a key; if there is none, for the one to put it into. */
static int find(struct slot *slots, unsigned capacity, int key, struct slot **found)
{
    if (capacity == 0)
        return 0;
    unsigned start = hash(key) % capacity;
    unsigned at = start;
    struct slot *removed = NULL;
    do {
        struct slot *slot = &slots[at];
        if (slot->state == SLOT_EMPTY) {
            *found = removed ? removed : slot;
            return 0;
        }
        if (slot->state == SLOT_REMOVED) {
            if (!removed)
                removed = slot;
        } else if (slot->key == key) {
            *found = slot;
            return 1;
        }
        at = (at + 1) % capacity;
    } while (at != start);
    *found = removed;
    return 0;
}

/* Says whether the key is new. */
static int insert(struct slot *slots, unsigned capacity, int key, int value)
{
    unsigned at = hash(key) % capacity;
    while (slots[at].state == SLOT_USED && slots[at].key != key)
        at = (at + 1) % capacity;
    int is_new = slots[at].state != SLOT_USED;
    slots[at].state = SLOT_USED;
    slots[at].key = key;
    slots[at].value = value;
    return is_new;
}

static void resize(struct table *table, struct heap *heap, unsigned capacity)
{
    struct slot *slots = heap_resize(heap, NULL, 0, capacity * sizeof *slots);
    for (unsigned i = 0; i < capacity; i++)
        slots[i].state = SLOT_EMPTY;
    for (unsigned i = 0; i < table->capacity; i++)
        if (table->slots[i].state == SLOT_USED)
            insert(slots, capacity, table->slots[i].key, table->slots[i].value);
    heap_resize(heap, table->slots, table->capacity * sizeof *slots, 0);
    table->slots = slots;
    table->capacity = capacity;
}

void table_set(struct table *table, struct heap *heap, int key, int value)
{
    if ((table->count + 1) * 4 > table->capacity * 3)
        resize(table, heap, table->capacity ? table->capacity * 2 : 8);
    if (insert(table->slots, table->capacity, key, value))
        table->count++;
}

int table_has(const struct table *table, int key)
{
    struct slot *slot;
    return find(table->slots, table->capacity, key, &slot);
}

void table_clear(struct table *table, struct heap *heap)
{
    heap_resize(heap, table->slots, table->capacity * sizeof *table->slots, 0);
    table->slots = NULL;
    table->capacity = 0;
    table->count = 0;
}

int table_remove(struct table *table, struct heap *heap, int key)
{
    struct slot *slot;
    if (!find(table->slots, table->capacity, key, &slot))
        return 0;
    slot->state = SLOT_REMOVED;
    slot->key = 0;
    table->count--;
    if (table->count == 0)
        table_clear(table, heap);
    return 1;
}
