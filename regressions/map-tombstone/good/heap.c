#include "heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct heap *heap, struct text *text)
{
    heap->in_use -= sizeof *text + text->length + 1;
    free(text);
}

/* Texts live until the next collection unless somebody marked them. */
static void collect(struct heap *heap)
{
    struct text **at = &heap->texts;
    while (*at) {
        struct text *text = *at;
        if (text->marked) {
            text->marked = 0;
            at = &text->next;
        } else {
            *at = text->next;
            drop(heap, text);
        }
    }
    heap->collections++;
    heap->next_collection = heap->in_use * 2 + 4096;
}

void *heap_resize(struct heap *heap, void *old, size_t old_size, size_t new_size)
{
    heap->in_use += new_size;
    heap->in_use -= old_size;
    if (new_size > 0 && heap->in_use > heap->next_collection)
        collect(heap);
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    void *block = realloc(old, new_size);
    if (!block) {
        fprintf(stderr, "script: out of memory\n");
        exit(3);
    }
    return block;
}

struct text *heap_text(struct heap *heap, const char *bytes, size_t length)
{
    struct text *text = heap_resize(heap, NULL, 0, sizeof *text + length + 1);
    text->next = heap->texts;
    text->marked = 0;
    text->length = length;
    memcpy(text->bytes, bytes, length);
    text->bytes[length] = '\0';
    heap->texts = text;
    return text;
}

void heap_free(struct heap *heap)
{
    while (heap->texts) {
        struct text *text = heap->texts;
        heap->texts = text->next;
        drop(heap, text);
    }
}
