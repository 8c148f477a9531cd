#include "timing.h"

#include <ctype.h>

static int digit(int c) {
    return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

int load_image(struct image *image, FILE *in) {
    int c, high = -1;

    image->size = 0;
    image->origin = 0x200;
    while ((c = getc(in)) != EOF) {
        if (c == ';') {
            while (c != '\n' && c != EOF)
                c = getc(in);
        } else if (isxdigit(c)) {
            if (high < 0) {
                high = digit(c);
                continue;
            }
            if (image->size == IMAGE_SIZE)
                return -1;
            image->bytes[image->size++] = (uint8_t)(high << 4 | digit(c));
            high = -1;
        } else if (!isspace(c)) {
            return -1;
        }
    }
    return high < 0 ? 0 : -1;
}
