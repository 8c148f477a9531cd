#include "codec.h"

#include <stdlib.h>

void buffer_add(struct buffer *buffer, uint8_t byte) {
    if (buffer->length == buffer->room) {
        buffer->room = buffer->room ? buffer->room * 2 : 64;
        buffer->bytes = realloc(buffer->bytes, buffer->room);
    }
    buffer->bytes[buffer->length++] = byte;
}

void buffer_free(struct buffer *buffer) {
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = buffer->room = 0;
}

/* At most 24 bits at a time: up to seven are still pending. */
void bits_write(struct bit_writer *writer, uint32_t bits, int count) {
    writer->pending = writer->pending << count | bits;
    writer->count += count;
    while (writer->count >= 8) {
        writer->count -= 8;
        buffer_add(writer->out, (uint8_t)(writer->pending >> writer->count));
    }
}

void bits_flush(struct bit_writer *writer) {
    if (writer->count > 0)
        bits_write(writer, 0, 8 - writer->count);
}

uint32_t bits_read(struct bit_reader *reader, int count) {
    uint32_t value = 0;
    while (count-- > 0) {
        size_t byte = reader->at / 8;
        if (byte >= reader->length) {
            reader->past_end = 1;
            return 0;
        }
        value = value << 1 | (reader->bytes[byte] >> (7 - reader->at % 8) & 1);
        reader->at++;
    }
    return value;
}
