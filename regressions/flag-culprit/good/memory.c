#include "concord.h"

#include <stdlib.h>

void *get_memory(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        fprintf(stderr, "concord: out of memory\n");
        exit(2);
    }
    return memory;
}
