/* Compares every byte of the input with others of it, round after round: as many
   different decisions as one likes. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static unsigned char text[8192];
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    int length = (int)fread(text, 1, sizeof text, stdin);
    unsigned up = 0, down = 0;
    for (int round = 1; round <= rounds; round++)
        for (int i = 0; i < length; i++) {
            unsigned other = text[(i + round) % length];
            if (text[i] * 3u + other * (unsigned)round > 500u + (unsigned)round * 90u)
                up++;
            else
                down++;
        }
    printf("%u %u\n", up, down);
    return 0;
}
