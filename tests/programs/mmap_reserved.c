// Address space that is reserved and hardly touched. It costs nothing in the program, and must not
// cost anything in its recording or replay: more is reserved here than machines have. It also lies
// in more than one block of the shadow.
// opaque:
// expect: 7 0 7 0
// expect: 5 7
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(void) {
    size_t size = 96ul << 30;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *p = mmap(0, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    p[0] = p[size / 2] = p[size - 1] = 7;
    printf("%d %d %d %d\n", p[0], p[1], p[size / 2], p[size / 3]);
    p[size / 4] = 5;
    char *q = mremap(p, size, size + (32ul << 30), MREMAP_MAYMOVE);
    if (q == MAP_FAILED)
        return 2;
    printf("%d %d\n", q[size / 4], q[size - 1]);
    munmap(q, size + (32ul << 30));
    return 0;
}
