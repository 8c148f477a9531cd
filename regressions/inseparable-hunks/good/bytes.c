#include "bytes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int digit(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return tolower(c) - 'a' + 10;
}

static int push(struct bytes *bytes, size_t *room, int value) {
    if (bytes->size == *room) {
        size_t more = *room ? 2 * *room : 64;
        unsigned char *data = realloc(bytes->data, more);
        if (data == NULL)
            return -1;
        bytes->data = data;
        *room = more;
    }
    bytes->data[bytes->size++] = (unsigned char)value;
    return 0;
}

int bytes_load(struct bytes *bytes, const char *path) {
    FILE *file = fopen(path, "r");
    size_t room = 0;
    int high = -1, c;

    bytes->data = NULL;
    bytes->size = 0;
    if (file == NULL)
        return -1;
    while ((c = getc(file)) != EOF) {
        if (c == '#') {
            while (c != '\n' && c != EOF)
                c = getc(file);
        } else if (isxdigit(c)) {
            if (high < 0) {
                high = digit(c);
            } else {
                if (push(bytes, &room, high << 4 | digit(c)) != 0)
                    break;
                high = -1;
            }
        }
    }
    fclose(file);
    return high < 0 ? 0 : -1;
}

void bytes_free(struct bytes *bytes) {
    free(bytes->data);
    bytes->data = NULL;
    bytes->size = 0;
}

long field(const struct bytes *bytes, size_t at, int width) {
    unsigned long value = 0;
    for (int i = width - 1; i >= 0; i--)
        value = value << 8 | bytes->data[at + i];
    if (value >> (8 * width - 1) != 0)
        value -= 1ul << (8 * width);
    return (long)value;
}

unsigned bytes_sum(const struct bytes *bytes, size_t from, size_t to) {
    unsigned low = 1, high = 0;
    for (size_t i = from; i < to; i++) {
        low = (low + bytes->data[i]) % 251;
        high = (high + low) % 251;
    }
    return high << 8 | low;
}
