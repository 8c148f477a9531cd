// Parent and child talk over two pipes.
// expect: 2490 0
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int to[2], from[2];
    if (pipe(to) || pipe(from)) return 1;
    pid_t pid = fork();
    if (pid == 0) {
        close(to[1]);
        close(from[0]);
        int v;
        while (read(to[0], &v, sizeof v) == sizeof v) {
            v = v * v + 1;
            if (write(from[1], &v, sizeof v) != sizeof v) _exit(2);
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    long total = 0;
    for (int i = 0; i < 20; i++) {
        int r;
        if (write(to[1], &i, sizeof i) != sizeof i || read(from[0], &r, sizeof r) != sizeof r) return 1;
        total += r;
    }
    close(to[1]);
    int status;
    waitpid(pid, &status, 0);
    printf("%ld %d\n", total, status);
    return 0;
}
