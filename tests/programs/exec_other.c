// A program that is not instrumented, run by fork and exec and by system.
// exit: 3
// expect: from the shell
// expect: 4
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "echo from the shell; exit 4", (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    fflush(stdout);
    status = system("exit 3");
    return WEXITSTATUS(status);
}
