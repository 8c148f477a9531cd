// A data race: whatever was seen must be seen again.
// flags: -pthread
// expect: 1
#include <pthread.h>
#include <stdio.h>

static volatile int turn, hits;

static void *spin(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < 20000; i++) {
        if (turn != me) hits++;
        turn = me;
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, spin, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    printf("%d\n", hits >= 0);
    return 0;
}
