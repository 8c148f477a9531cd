/* A chunk: four bytes of length, a byte that says whether there was a palette. */
#include <stdio.h>

#define PALETTE 3

static unsigned long number(void) {
    unsigned char b[4];
    if (fread(b, 1, 4, stdin) != 4)
        return 0;
    unsigned long n = (unsigned long)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
    if (n > 0x7fffffff) {
        puts("number out of range");
        return 0;
    }
    return n;
}

int main(void) {
    unsigned long length = number();
    int have_palette = getchar() == 'p';
    if (!have_palette)
        puts("warning: no palette");
    if (length > PALETTE) {
        puts("error: too long");
        return 0;
    }
    puts("transparency set");
    return 0;
}
