// The process ends while other threads still run.
// flags: -pthread
// exit: 6
// expect: leaving
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int started;
static volatile unsigned sink;
static void *forever(void *arg) {
    atomic_fetch_add(&started, 1);
    for (;;) sink += (unsigned)(long)arg;
    return NULL;
}

int main(void) {
    pthread_t t;
    for (long i = 1; i <= 2; i++) pthread_create(&t, NULL, forever, (void *)i);
    while (atomic_load(&started) < 2) {}
    puts("leaving");
    exit(6);
}
