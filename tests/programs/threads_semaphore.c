// Semaphores and a detached thread.
// flags: -pthread
// expect: 1
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t ping, pong;
static int trace[20], at;

static void *play(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        sem_wait(&ping);
        trace[at++] = i * 2;
        sem_post(&pong);
    }
    return NULL;
}

int main(void) {
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_t t;
    pthread_create(&t, NULL, play, NULL);
    pthread_detach(t);
    for (int i = 0; i < 10; i++) {
        sem_post(&ping);
        sem_wait(&pong);
        trace[at++] = i * 2 + 1;
    }
    int ordered = 1;
    for (int i = 0; i < 20; i++) ordered &= trace[i] == i;
    printf("%d\n", ordered);
    return 0;
}
