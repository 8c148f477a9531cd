// A value published by release, awaited by acquire.
// flags: -pthread
// expect: 308
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload[8];
static atomic_int ready;

static void *publish(void *arg) {
    (void)arg;
    for (int i = 0; i < 8; i++) payload[i] = i * 11;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, publish, NULL);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) sched_yield();
    int s = 0;
    for (int i = 0; i < 8; i++) s += payload[i];
    printf("%d\n", s);
    pthread_join(t, NULL);
    return 0;
}
