// A child that computes on the parent's data and reports by its status.
// expect: child 0: 1 25
// expect: child 1: 1 51
// expect: child 2: 1 77
// expect: 4
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int table[50];

int main(void) {
    for (int i = 0; i < 50; i++) table[i] = i * i;
    for (int k = 0; k < 3; k++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            int s = 0;
            for (int i = 0; i < 50; i++) s += table[i] * (k + 1);
            table[k] = -1;
            exit(s % 100 + k);
        }
        int status;
        waitpid(pid, &status, 0);
        printf("child %d: %d %d\n", k, WIFEXITED(status), WEXITSTATUS(status));
    }
    printf("%d\n", table[2]);
    return 0;
}
