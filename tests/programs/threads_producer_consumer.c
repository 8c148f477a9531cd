// A bounded queue with two condition variables.
// flags: -pthread
// expect: 15150
#include <pthread.h>
#include <stdio.h>

#define ROOM 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int queue[ROOM], head, tail, count;

static void put(int v) {
    pthread_mutex_lock(&lock);
    while (count == ROOM) pthread_cond_wait(&not_full, &lock);
    queue[tail] = v;
    tail = (tail + 1) % ROOM;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}
static int get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0) pthread_cond_wait(&not_empty, &lock);
    int v = queue[head];
    head = (head + 1) % ROOM;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return v;
}
static void *produce(void *arg) {
    for (int i = 1; i <= 100; i++) put(i * (int)(long)arg);
    put(0);
    return NULL;
}
static void *consume(void *arg) {
    long *sum = arg;
    for (int v; (v = get()) != 0;) *sum += v;
    return NULL;
}

int main(void) {
    pthread_t p[2], c[2];
    long sums[2] = {0, 0};
    for (long i = 0; i < 2; i++) { pthread_create(&p[i], NULL, produce, (void *)(i + 1)); pthread_create(&c[i], NULL, consume, &sums[i]); }
    for (int i = 0; i < 2; i++) { pthread_join(p[i], NULL); pthread_join(c[i], NULL); }
    printf("%ld\n", sums[0] + sums[1]);
    return 0;
}
