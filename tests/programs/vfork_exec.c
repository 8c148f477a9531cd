// expect: 5 0
// expect: 6 4
// The child of a vfork writes to its parent's memory, and to its stream.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;

int main(void) {
    int status, child = vfork();
    if (child == 0) {
        shared = 5;
        execlp("true", "true", (char *)0);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", shared, WEXITSTATUS(status));
    child = vfork();
    if (child == 0) {
        shared = 6;
        _exit(4);
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", shared, WEXITSTATUS(status));
    return 0;
}
