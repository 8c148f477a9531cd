#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_init(struct buffer *b) {
    b->text = NULL;
    b->length = 0;
    b->room = 0;
}

void buffer_free(struct buffer *b) {
    free(b->text);
    buffer_init(b);
}

void buffer_clear(struct buffer *b) {
    b->length = 0;
    if (b->text)
        b->text[0] = '\0';
}

static void reserve(struct buffer *b, size_t more) {
    size_t wanted = b->length + more + 1;
    if (wanted <= b->room)
        return;
    b->room = b->room ? b->room : 32;
    while (b->room < wanted)
        b->room *= 2;
    b->text = realloc(b->text, b->room);
    if (!b->text) {
        fprintf(stderr, "typeset: out of memory\n");
        exit(3);
    }
}

void buffer_add(struct buffer *b, const char *text, size_t length) {
    reserve(b, length);
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = '\0';
}

void buffer_puts(struct buffer *b, const char *text) {
    buffer_add(b, text, strlen(text));
}

void buffer_fill(struct buffer *b, char c, int count) {
    while (count-- > 0)
        buffer_add(b, &c, 1);
}
