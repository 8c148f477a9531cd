#include "buffer.h"

#include <stdlib.h>
#include <string.h>

static void reserve(struct buffer *buffer, size_t more) {
    if (buffer->size + more <= buffer->room)
        return;
    while (buffer->size + more > buffer->room)
        buffer->room = buffer->room ? 2 * buffer->room : 128;
    buffer->text = realloc(buffer->text, buffer->room);
    if (buffer->text == NULL)
        abort();
}

void buffer_put(struct buffer *buffer, char c) {
    reserve(buffer, 1);
    buffer->text[buffer->size++] = c;
}

void buffer_add(struct buffer *buffer, const char *text, size_t size) {
    if (size == 0)
        return;
    reserve(buffer, size);
    memcpy(buffer->text + buffer->size, text, size);
    buffer->size += size;
}

void buffer_pad(struct buffer *buffer, int count) {
    for (int i = 0; i < count; i++)
        buffer_put(buffer, ' ');
}

int buffer_column(const struct buffer *buffer) {
    size_t at = buffer->size;
    while (at > 0 && buffer->text[at - 1] != '\n')
        at--;
    return (int)(buffer->size - at);
}

void buffer_free(struct buffer *buffer) {
    free(buffer->text);
    memset(buffer, 0, sizeof *buffer);
}
