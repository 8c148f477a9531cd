#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bucket(const char *key) {
    return (unsigned char)key[0] % BUCKETS;
}

static char *copy(const char *text) {
    char *result = malloc(strlen(text) + 1);
    if (!result) {
        fprintf(stderr, "keep: out of memory\n");
        exit(3);
    }
    return strcpy(result, text);
}

void table_init(struct table *t) {
    memset(t, 0, sizeof *t);
    t->spare = NONE;
    t->fresh = 1;
}

static void release(struct record *r) {
    free(r->key);
    free(r->value);
    r->key = NULL;
    r->value = NULL;
}

void table_free(struct table *t) {
    int b, slot;
    for (b = 0; b < BUCKETS; b++)
        for (slot = t->head[b]; slot != NONE; slot = t->pool[slot].next)
            release(&t->pool[slot]);
    table_init(t);
}

/* A slot for a new record, or NONE. */
static int take_slot(struct table *t) {
    int slot = t->spare;
    if (slot != NONE) {
        t->spare = t->pool[slot].next;
        return slot;
    }
    if (t->fresh == SLOTS)
        return NONE;
    return t->fresh++;
}

int table_find(const struct table *t, const char *key) {
    int slot = t->head[bucket(key)];
    while (slot != NONE && strcmp(t->pool[slot].key, key) != 0)
        slot = t->pool[slot].next;
    return slot;
}

static struct record *add(struct table *t, const char *key) {
    int slot = take_slot(t);
    int *head = &t->head[bucket(key)];
    struct record *r = &t->pool[slot];
    if (slot == NONE)
        return NULL;
    memset(r, 0, sizeof *r);
    r->key = copy(key);
    r->next = *head;
    *head = slot;
    t->count++;
    return r;
}

int table_set(struct table *t, const char *key, const char *value) {
    struct record *r;
    int slot = table_find(t, key);
    r = slot != NONE ? &t->pool[slot] : add(t, key);
    if (!r)
        return 0;
    free(r->value);
    r->value = copy(value);
    r->expires = 0;
    return 1;
}

int table_delete(struct table *t, const char *key) {
    int *link = &t->head[bucket(key)];
    while (*link != NONE) {
        int slot = *link;
        struct record *r = &t->pool[slot];
        if (strcmp(r->key, key) == 0) {
            *link = r->next;
            release(r);
            r->next = t->spare;
            t->spare = slot;
            t->count--;
            return 1;
        }
        link = &r->next;
    }
    return 0;
}
