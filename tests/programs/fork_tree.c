// Children of children; each level replays from its parent's stream.
// exit: 12
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int level(int depth, int carry) {
    if (depth == 0) return carry;
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(level(depth - 1, carry + depth));
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) + 2;
}

int main(void) { return level(3, 0); }
