// expect: fd 3
// expect: done 1
// A program that closes every descriptor it did not open, as daemons do, and
// changes its directory; then large blocks come and go.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    for (int i = 3; i < 1024; i++) close(i);
    int fd = open("/etc/passwd", O_RDONLY);
    printf("fd %d\n", fd);
    if (chdir("/") != 0) return 1;
    char buffer[4096];
    long total = 0;
    for (int k = 0; k < 200; k++) {
        lseek(fd, 0, SEEK_SET);
        for (ssize_t n; (n = read(fd, buffer, 100)) > 0;)
            for (int i = 0; i < n; i++) total += buffer[i];
        buffer[0]++;
    }
    for (int k = 0; k < 20; k++) {
        char *big = malloc(4 << 20);
        for (int i = 0; i < 4 << 20; i += 512) big[i] = (char)(k + i);
        total += big[5120] & 1;
        free(big);
    }
    char *moved = realloc(NULL, 300000);
    memset(moved, 1, 300000);
    moved = realloc(moved, 5000000);
    printf("done %d\n", total > 0 && moved[299999] == 1);
    free(moved);
    return 0;
}
