#include "timing.h"

#include <string.h>

static void list(const struct image *image) {
    struct decoded decoded;
    for (int at = image->origin; at < image->origin + image->size; at += decoded.size) {
        decode(image, at, &decoded);
        print_decoded(&decoded, stdout);
    }
}

int main(int argc, char **argv) {
    static struct image image;
    static struct block blocks[MOST_BLOCKS];
    int listing = argc > 1 && strcmp(argv[1], "-l") == 0;
    const char *path = argc > 1 + listing ? argv[1 + listing] : NULL;
    FILE *in = path ? fopen(path, "r") : NULL;

    if (in == NULL) {
        fprintf(stderr, "usage: timing [-l] FILE\n");
        return 2;
    }
    if (load_image(&image, in) != 0) {
        fprintf(stderr, "timing: %s cannot be understood\n", path);
        fclose(in);
        return 2;
    }
    fclose(in);
    if (listing)
        list(&image);
    print_blocks(blocks, find_blocks(&image, blocks), stdout);
    return 0;
}
