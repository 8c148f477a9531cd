// A thread that is not the first crashes.
// flags: -pthread
// signal: SEGV
// expect: start
#include <pthread.h>
#include <stdio.h>

static void *fall(void *arg) {
    int *p = arg;
    for (int i = 0; i < 10; i++) *p += i;
    p = NULL;
    *(volatile int *)p = 1;
    return NULL;
}

int main(void) {
    int cell = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("start");
    pthread_t t;
    pthread_create(&t, NULL, fall, &cell);
    pthread_join(t, NULL);
    puts("never");
    return 0;
}
