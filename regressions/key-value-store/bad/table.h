#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

enum state { EMPTY, LIVE, GONE };

struct slot {
    enum state state;
    char key[32];
    long value;
};

struct table {
    struct slot *slots;
    size_t size;
    size_t filled; /* live and gone */
    size_t live;
    size_t deletions;
};

void table_init(struct table *table, size_t size);
struct slot *table_find(struct table *table, const char *key);
void table_set(struct table *table, const char *key, long value);
size_t table_live(const struct table *table);
int table_delete(struct table *table, const char *key);
void table_free(struct table *table);

#endif
