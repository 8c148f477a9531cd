/* Compresses a file at several levels and decompresses it again: main FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zlib.h"

static unsigned char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    size_t room = 0;
    *size = 0;
    if (file == NULL) {
        return NULL;
    }
    for (;;) {
        size_t got;
        if (*size == room) {
            room = room ? room * 2 : 65536;
            bytes = realloc(bytes, room);
        }
        got = fread(bytes + *size, 1, room - *size, file);
        if (got == 0) {
            break;
        }
        *size += got;
    }
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    static const int levels[] = {1, 3, 6, 9};
    size_t size, i;
    unsigned char *input = slurp(argc > 1 ? argv[1] : "input.txt", &size);
    uLong bound = compressBound(size);
    unsigned char *packed = malloc(bound);
    unsigned char *again = malloc(size + 1);
    if (input == NULL || packed == NULL || again == NULL) {
        return 1;
    }
    for (i = 0; i < sizeof levels / sizeof *levels; i++) {
        uLongf length = bound, back = size;
        z_stream stream;
        int code = compress2(packed, &length, input, size, levels[i]);
        printf("level %d: %d, %lu bytes, crc %08lx\n", levels[i], code, length, crc32(0, packed, length));
        code = uncompress(again, &back, packed, length);
        printf("back: %d, %lu bytes, %s\n", code, back, memcmp(input, again, size) ? "differ" : "same");

        /* The same in small pieces. */
        memset(&stream, 0, sizeof stream);
        inflateInit(&stream);
        stream.next_in = packed;
        stream.next_out = again;
        back = 0;
        while (back < length && code == Z_OK) {
            stream.avail_in = 1000 < length - back ? 1000 : (uInt)(length - back);
            back += stream.avail_in;
            stream.avail_out = (uInt)(size - stream.total_out);
            code = inflate(&stream, Z_NO_FLUSH);
        }
        printf("pieces: %d, %lu, adler %08lx\n", code, stream.total_out, stream.adler);
        inflateEnd(&stream);
        packed[length / 2] ^= 0x40;
        back = size;
        printf("damaged: %d\n", uncompress(again, &back, packed, length));
    }
    free(input);
    free(packed);
    free(again);
    return 0;
}
