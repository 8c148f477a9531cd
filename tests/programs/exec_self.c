// The process replaces itself; each image is a recording of its own.
// exit: 5
// expect: image 0
// expect: image 1
// expect: image 2
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    printf("image %d\n", n);
    fflush(stdout);
    if (n == 2) return 5;
    char next[12];
    snprintf(next, sizeof next, "%d", n + 1);
    execl(argv[0], argv[0], next, (char *)NULL);
    perror("execl");
    return 1;
}
