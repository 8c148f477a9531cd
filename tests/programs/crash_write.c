// A store to a read-only page.
// signal: SEGV
// expect: 1225
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (int i = 0; i < 50; i++) sum += p[i] + i;
    printf("%d\n", sum);
    p[100] = 1;
    puts("never");
    return 0;
}
