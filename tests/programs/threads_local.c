// Thread-local variables: initialised, zero, in several threads; pthread keys.
// flags: -pthread
// expect: 110 130 150 170 100 0 100
#include <pthread.h>
#include <stdio.h>

static _Thread_local int counter = 100;
static __thread int zeros[16];
static pthread_key_t key;
static int destroyed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void gone(void *p) {
    pthread_mutex_lock(&lock);
    destroyed += *(int *)p;
    pthread_mutex_unlock(&lock);
}
static int bump(int by) { counter += by; zeros[by] = counter; return zeros[by]; }
static void *work(void *arg) {
    int by = (int)(long)arg;
    static int values[4] = {10, 20, 30, 40};
    pthread_setspecific(key, &values[by]);
    for (int i = 0; i < 10; i++) bump(by);
    return (void *)(long)(counter + *(int *)pthread_getspecific(key));
}

int main(void) {
    pthread_key_create(&key, gone);
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        printf("%ld ", (long)r);
    }
    printf("%d %d %d\n", counter, zeros[1], destroyed);
    return 0;
}
