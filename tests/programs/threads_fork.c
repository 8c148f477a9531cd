// fork out of a program that has threads.
// flags: -pthread
// expect: 30
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared[4];
static void *work(void *arg) { long i = (long)arg; shared[i] = (int)(i * 5); return NULL; }

int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int s = 0;
        for (int i = 0; i < 4; i++) s += shared[i];
        _exit(s);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
