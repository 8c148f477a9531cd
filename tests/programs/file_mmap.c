// A file mapped, read as memory, changed through the mapping.
// expect: 78286 abcde
// expect: CHANGED
// expect: 0
// expect: 7 0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    int fd = open("mmap.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char page[5000];
    for (int i = 0; i < 5000; i++) page[i] = (char)('a' + i % 26);
    if (write(fd, page, sizeof page) != sizeof page) return 1;
    char *m = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) return 1;
    long t = 0;
    for (int i = 0; i < 5000; i += 7) t += m[i];
    printf("%ld %.5s\n", t, m + 26);
    memcpy(m + 100, "CHANGED", 7);
    char back[8] = "";
    if (pread(fd, back, 7, 100) != 7) return 1;
    printf("%s\n", back);
    printf("%d\n", munmap(m, 5000));
    int *anon = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    anon[1000] = 7;
    printf("%d %d\n", anon[1000], anon[1001]);
    munmap(anon, 1 << 20);
    close(fd);
    unlink("mmap.dat");
    return 0;
}
