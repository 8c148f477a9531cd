/* Text that grows. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>

struct buffer {
    char *text;
    size_t size, room;
};

void buffer_put(struct buffer *buffer, char c);
void buffer_add(struct buffer *buffer, const char *text, size_t size);
void buffer_pad(struct buffer *buffer, int count);
/* Columns since the last line began. */
int buffer_column(const struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif
