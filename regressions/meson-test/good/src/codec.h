/* Packs bytes: runs are shortened, then every byte gets a code as long as it is rare. */
#ifndef CODEC_H
#define CODEC_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *bytes;
    size_t length;
    size_t room;
};

void buffer_add(struct buffer *buffer, uint8_t byte);
void buffer_free(struct buffer *buffer);

/* ---- bits.c: bits into bytes, the highest first */

struct bit_writer {
    struct buffer *out;
    uint32_t pending;
    int count;
};

struct bit_reader {
    const uint8_t *bytes;
    size_t length;
    size_t at; /* in bits */
    int past_end;
};

void bits_write(struct bit_writer *writer, uint32_t bits, int count);
void bits_flush(struct bit_writer *writer);
uint32_t bits_read(struct bit_reader *reader, int count);

/* ---- runs.c */

/* A byte that comes twice is followed by the number of those after it. */
void runs_pack(const uint8_t *bytes, size_t length, struct buffer *out);
int runs_unpack(const uint8_t *bytes, size_t length, struct buffer *out);

/* ---- huffman.c */

enum { SYMBOLS = 256, LONGEST = 15 };

void huffman_lengths(const unsigned long *counts, uint8_t *lengths);
/* Codes of the same length are in the order of their symbols. */
void huffman_codes(const uint8_t *lengths, uint32_t *codes);
void huffman_encode(const uint8_t *bytes, size_t length, struct bit_writer *writer);
int huffman_decode(struct bit_reader *reader, size_t length, struct buffer *out);

/* ---- container.c */

uint32_t checksum(const uint8_t *bytes, size_t length);
void squeeze(const uint8_t *bytes, size_t length, struct buffer *out);
/* NULL, or what is wrong. */
const char *expand(const uint8_t *bytes, size_t length, struct buffer *out);

#endif
