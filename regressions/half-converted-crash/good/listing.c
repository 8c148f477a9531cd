#include "listing.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b) {
    const struct record *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static int collect(const struct table *t, const struct record **into) {
    int b, slot, count = 0;
    for (b = 0; b < BUCKETS; b++)
        for (slot = t->head[b]; slot != NONE; slot = t->pool[slot].next)
            into[count++] = &t->pool[slot];
    return count;
}

void listing_print(const struct table *t, FILE *out) {
    const struct record *records[SLOTS];
    int count = collect(t, records);
    int i;
    qsort(records, (size_t)count, sizeof records[0], by_key);
    for (i = 0; i < count; i++) {
        fprintf(out, "%s = %s", records[i]->key, records[i]->value);
        if (records[i]->expires)
            fprintf(out, " until %ld", records[i]->expires);
        fprintf(out, "\n");
    }
}

void listing_statistics(const struct table *t, FILE *out) {
    const struct record *records[SLOTS];
    int count = collect(t, records);
    long reads = 0;
    int i;
    for (i = 0; i < count; i++)
        reads += records[i]->reads;
    fprintf(out, "%d records, %ld reads\n", t->count, reads);
}
