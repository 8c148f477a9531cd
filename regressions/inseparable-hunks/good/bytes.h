/* The bytes of a file, and the numbers in them. */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>

struct bytes {
    unsigned char *data;
    size_t size;
};

/* Reads a file of hexadecimal digits; '#' begins a comment. Returns 0, or -1. */
int bytes_load(struct bytes *bytes, const char *path);

void bytes_free(struct bytes *bytes);

/* The number in `width` bytes, the lowest byte first. It is signed: all ones is -1. */
long field(const struct bytes *bytes, size_t at, int width);

/* A sum over the bytes from `from` up to `to`. */
unsigned bytes_sum(const struct bytes *bytes, size_t from, size_t to);

#endif
