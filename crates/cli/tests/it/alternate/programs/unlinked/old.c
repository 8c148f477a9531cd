#include <stdio.h>

int main(void) {
    unsigned char b[4];
    if (fread(b, 1, 4, stdin) != 4)
        return 1;
    if (b[0] > b[1] && b[1] > 10 && b[2] > b[3] && b[3] > 0)
        puts("in order");
    return 0;
}
