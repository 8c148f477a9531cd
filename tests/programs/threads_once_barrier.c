// pthread_once, barriers, phases.
// flags: -pthread
// expect: 1 5 155 153 135 137
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static int initialised, cells[4], serial;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void init(void) { initialised++; }
static void *work(void *arg) {
    int me = (int)(long)arg;
    pthread_once(&once, init);
    for (int phase = 0; phase < 5; phase++) {
        cells[me] += me + phase;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            pthread_mutex_lock(&lock);
            serial++;
            pthread_mutex_unlock(&lock);
        }
        int left = cells[(me + 3) % 4];
        pthread_barrier_wait(&barrier);
        cells[me] += left;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 4);
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%d %d %d %d %d %d\n", initialised, serial, cells[0], cells[1], cells[2], cells[3]);
    pthread_barrier_destroy(&barrier);
    return 0;
}
