// A hundred threads, one after the other and in groups.
// flags: -pthread
// expect: 328350
#include <pthread.h>
#include <stdio.h>

static void *square(void *arg) { long n = (long)arg; return (void *)(n * n); }

int main(void) {
    long total = 0;
    for (long round = 0; round < 25; round++) {
        pthread_t t[4];
        for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, square, (void *)(round * 4 + i));
        for (int i = 0; i < 4; i++) {
            void *r;
            pthread_join(t[i], &r);
            total += (long)r;
        }
    }
    printf("%ld\n", total);
    return 0;
}
