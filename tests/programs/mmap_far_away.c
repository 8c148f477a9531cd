// expect: 4995000
// Mappings at addresses far from everything the program had when it started.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    long sum = 0;
    for (unsigned long i = 1; i < 5; i++) {
        int *p = mmap((void *)(0x100000000000ul * i), 1 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return 1;
        for (int k = 0; k < 1000; k++) p[k * 7] = k * (int)i;
        for (int k = 0; k < 7000; k++) sum += p[k];
        if (i == 3) munmap(p, 1 << 20);
    }
    printf("%ld\n", sum);
    return 0;
}
