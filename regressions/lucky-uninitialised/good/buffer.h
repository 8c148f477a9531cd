#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>

/* A string that grows. */
struct buffer {
    char *text;
    size_t length;
    size_t room;
};

void buffer_init(struct buffer *b);
void buffer_free(struct buffer *b);
void buffer_clear(struct buffer *b);
void buffer_add(struct buffer *b, const char *text, size_t length);
void buffer_puts(struct buffer *b, const char *text);
void buffer_fill(struct buffer *b, char c, int count);

#endif
