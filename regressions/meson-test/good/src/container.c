#include "codec.h"

enum { MAGIC = 0x5351, HEADER_BITS = 16 + 24 + 24 + 32 };

/* Two sums, as in Fletcher's checksum. */
uint32_t checksum(const uint8_t *bytes, size_t length) {
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < length; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

void squeeze(const uint8_t *bytes, size_t length, struct buffer *out) {
    struct buffer runs = {0};
    struct bit_writer writer = {out, 0, 0};
    uint32_t sum = checksum(bytes, length);
    runs_pack(bytes, length, &runs);
    bits_write(&writer, MAGIC, 16);
    bits_write(&writer, (uint32_t)length & 0xffffff, 24);
    bits_write(&writer, (uint32_t)runs.length & 0xffffff, 24);
    bits_write(&writer, sum >> 16, 16);
    bits_write(&writer, sum & 0xffff, 16);
    huffman_encode(runs.bytes, runs.length, &writer);
    bits_flush(&writer);
    buffer_free(&runs);
}

const char *expand(const uint8_t *bytes, size_t length, struct buffer *out) {
    struct bit_reader reader = {bytes, length, 0, 0};
    struct buffer runs = {0};
    const char *problem = NULL;
    size_t whole, packed;
    uint32_t sum;
    if (length * 8 < HEADER_BITS || bits_read(&reader, 16) != MAGIC)
        return "not squeezed";
    whole = bits_read(&reader, 24);
    packed = bits_read(&reader, 24);
    sum = bits_read(&reader, 32);
    if (!huffman_decode(&reader, packed, &runs))
        problem = "cut off";
    else if (!runs_unpack(runs.bytes, runs.length, out) || out->length != whole)
        problem = "wrong length";
    else if (checksum(out->bytes, out->length) != sum)
        problem = "wrong checksum";
    buffer_free(&runs);
    return problem;
}
