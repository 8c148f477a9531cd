// fork, then a crash in the child and threads in the parent.
#include "hooks.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t shared;

static void *thread(void *arg) {
    static struct function desc = { &module, 7, 1, "thread", 0, 0 };
    uint64_t args[] = { W(arg) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    store(&shared, 42);
    __relapse_leave(&desc);
    return NULL;
}

int main(int argc, char **argv) {
    static struct function desc = { &module, 5, 2, "main", 1, 0 };
    uint64_t args[] = { W(argc), W(argv) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    store(&shared, 41);
    int child = EXTERNAL_(30, fork, 0, 0, KNOWN_fork, (uint32_t)fork(), 0, 0);
    if (child == 0) {
        if (load(31, &shared) != 41) return 99;   // predicted: the shadow came along
        *(volatile int *)16 = 1;
    }
    int status;
    EXTERNAL_(32, waitpid, 3, 0, KNOWN_waitpid, waitpid(child, &status, 0), 0, W(child), W(&status), 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != 11) return 98;
    pthread_t t;
    EXTERNAL_(33, pthread_create, 4, 0, KNOWN_pthread_create, pthread_create(&t, 0, thread, 0), 0, W(&t), 0, W(thread), 0);
    EXTERNAL_(34, pthread_join, 2, 0, KNOWN_pthread_join, pthread_join(t, 0), 0, W(t), 0);
    if (load(35, &shared) != 42) return 97;       // written by stream 1
    uint64_t status_ = 7;
    EXTERNAL_(36, _exit, 1, 0, KNOWN__exit, (_exit(7), 0), 1, status_);
}
