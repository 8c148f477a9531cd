// Memory nobody wrote: fresh heap, reused heap, padding. Whatever it held, the
// replay must hold it too.
// expect: 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    unsigned h = 1;
    for (int round = 0; round < 10; round++) {
        unsigned char *p = malloc(400);
        for (int i = 0; i < 400; i++) h = h * 31 + p[i];
        memset(p, round, 400);
        free(p);
    }
    printf("%d\n", (h | 1) != 0);
    return 0;
}
