#include <stdio.h>
#include <stdlib.h>

static int blend(int first, int second) {
    int x;
    int y;
    int z;

    x = first;
    if (x < 0)
        x = 0;
    y = second * 2;
    if (second < 0)
        return -1;
    z = x + y + 2;
    return z;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: blend FIRST SECOND\n");
        return 2;
    }
    int result = blend(atoi(argv[1]), atoi(argv[2]));
    printf("blend: %d\n", result);
    return 0;
}
