#include <stdio.h>
#include <stdlib.h>

static int f;

int m(void) {
    return f;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        f = atoi(argv[i]);
        printf("%d\n", m());
    }
    return 0;
}
