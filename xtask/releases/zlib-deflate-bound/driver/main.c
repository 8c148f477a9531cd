/* Compresses into as many bytes as deflateBound() asks for, at several settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

/* Bytes without a pattern. */
static void fill(unsigned char *bytes, size_t length) {
    unsigned noise = 12345;
    for (size_t i = 0; i < length; i++) {
        noise = noise * 1103515245u + 12345u;
        bytes[i] = (unsigned char)(noise >> 16);
    }
}

static int fits(unsigned char *from, unsigned length, int level, int window, int memory) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, level, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    uLong bound = deflateBound(&stream, length);
    unsigned char *to = malloc(bound);
    stream.next_in = from;
    stream.avail_in = length;
    stream.next_out = to;
    stream.avail_out = (uInt)bound;
    int status = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    free(to);
    return status == Z_STREAM_END;
}

/* An argument says how many settings are tried. */
int main(int argc, char **argv) {
    static const struct {
        int level, window, memory;
    } settings[] = {{6, 15, 8}, {9, 15, 9}, {1, 12, 4}, {0, 15, 8}, {0, 15, 9}};
    static const unsigned lengths[] = {1, 1000, 300000};
    static unsigned char bytes[300000];
    fill(bytes, sizeof bytes);
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : sizeof settings / sizeof *settings;
    for (unsigned s = 0; s < count; s++)
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++)
            printf("level %d, window %d, memory %d, %u bytes: %d\n", settings[s].level, settings[s].window,
                   settings[s].memory, lengths[l],
                   fits(bytes, lengths[l], settings[s].level, settings[s].window, settings[s].memory));
    return 0;
}
