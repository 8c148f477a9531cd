// flags: -pthread
// expect: 21253400
// More threads at a time than shadows are kept for ended ones, then many more.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 400, TOGETHER = 100 };
static int results[THREADS];
static pthread_barrier_t barrier;

static void *work(void *arg) {
    long i = (long)arg;
    results[i] = (int)(i * i);
    if (i < TOGETHER) pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, TOGETHER);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    long sum = 0;
    for (int i = 0; i < THREADS; i++) sum += results[i];
    printf("%ld\n", sum);
    return 0;
}
