#include "codec.h"

enum { MOST_MORE = 255 };

void runs_pack(const uint8_t *bytes, size_t length, struct buffer *out) {
    size_t i = 0;
    while (i < length) {
        size_t run = 1;
        while (i + run < length && bytes[i + run] == bytes[i] && run < MOST_MORE + 2)
            run++;
        buffer_add(out, bytes[i]);
        if (run >= 2) {
            buffer_add(out, bytes[i]);
            buffer_add(out, (uint8_t)(run - 2));
        }
        i += run;
    }
}

int runs_unpack(const uint8_t *bytes, size_t length, struct buffer *out) {
    size_t i = 0;
    while (i < length) {
        uint8_t byte = bytes[i++];
        buffer_add(out, byte);
        if (i >= length || bytes[i] != byte)
            continue;
        buffer_add(out, byte);
        i++;
        if (i >= length)
            return 0;
        for (int more = bytes[i++]; more > 0; more--)
            buffer_add(out, byte);
    }
    return 1;
}
