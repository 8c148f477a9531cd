/* Compresses a file at several levels and decompresses it again: main FILE LEVEL... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zstd.h"

static unsigned long long sum(const unsigned char *bytes, size_t size) {
    unsigned long long hash = 1469598103934665603ull;
    size_t i;
    for (i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211ull;
    }
    return hash;
}

int main(int argc, char **argv) {
    FILE *file = fopen(argc > 1 ? argv[1] : "input.txt", "rb");
    long size;
    size_t bound;
    unsigned char *input, *packed, *again;
    int i;
    if (file == NULL) {
        return 1;
    }
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    input = malloc((size_t)size + 1);
    again = malloc((size_t)size + 1);
    bound = ZSTD_compressBound((size_t)size);
    packed = malloc(bound);
    if (input == NULL || again == NULL || packed == NULL || fread(input, 1, (size_t)size, file) != (size_t)size) {
        return 1;
    }
    fclose(file);
    for (i = 2; i < argc; i++) {
        int level = atoi(argv[i]);
        size_t length = ZSTD_compress(packed, bound, input, (size_t)size, level);
        size_t back;
        if (ZSTD_isError(length)) {
            printf("level %d: %s\n", level, ZSTD_getErrorName(length));
            continue;
        }
        printf("level %d: %zu bytes, sum %016llx\n", level, length, sum(packed, length));
        back = ZSTD_decompress(again, (size_t)size, packed, length);
        printf("back: %zu, %s\n", back, memcmp(input, again, (size_t)size) ? "differ" : "same");
        packed[length / 2] ^= 0x10;
        back = ZSTD_decompress(again, (size_t)size, packed, length);
        printf("damaged: %s\n", ZSTD_isError(back) ? "refused" : "accepted");
    }
    free(input);
    free(packed);
    free(again);
    return 0;
}
