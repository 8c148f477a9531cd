/* Memory of the script: everything is allocated here, and collected at once. */
#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

struct heap {
    size_t in_use;
    size_t next_collection;
    int collections;
    struct text *texts;
};

struct text {
    struct text *next;
    int marked;
    size_t length;
    char bytes[];
};

void *heap_resize(struct heap *heap, void *old, size_t old_size, size_t new_size);
struct text *heap_text(struct heap *heap, const char *bytes, size_t length);
void heap_free(struct heap *heap);

#endif
