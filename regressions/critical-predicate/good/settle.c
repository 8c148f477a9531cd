#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static int settle(int a, int b, int c) {
    int d = 0;
    if (a > 0) {
        if (b > 0)
            if (c != 2)
                c = 2;
        d = 3 + c;
    }
    assert(d == 5);
    return d;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: settle A B C\n");
        return 2;
    }
    int a = atoi(argv[1]);
    int b = atoi(argv[2]);
    int c = atoi(argv[3]);
    printf("settled at %d\n", settle(a, b, c));
    return 0;
}
