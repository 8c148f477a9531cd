// Arguments in, results out, by pointer and by value; pthread_exit.
// flags: -pthread
// expect: 8955050 42
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job { int from, to; long sum; };

static void *add(void *arg) {
    struct job *j = arg;
    for (int i = j->from; i < j->to; i++) j->sum += (long)i * i;
    return j;
}
static void *leave(void *arg) {
    long *r = malloc(sizeof *r);
    *r = (long)arg * 7;
    pthread_exit(r);
}

int main(void) {
    struct job jobs[3] = {{0, 100, 0}, {100, 250, 0}, {250, 300, 0}};
    pthread_t t[3], u;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, add, &jobs[i]);
    pthread_create(&u, NULL, leave, (void *)6L);
    long total = 0;
    for (int i = 0; i < 3; i++) {
        void *r;
        pthread_join(t[i], &r);
        total += ((struct job *)r)->sum;
    }
    void *r;
    pthread_join(u, &r);
    printf("%ld %ld\n", total, *(long *)r);
    free(r);
    return 0;
}
