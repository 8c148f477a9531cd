// flags: -pthread
// expect: 5000
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared;

static void *work(void *arg) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        shared += (long)arg;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%ld\n", shared);
    return 0;
}
