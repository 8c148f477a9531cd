// flags: -pthread
// expect: 401 401 0
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int a = 1, b = 1;
static int broken;

static void *reader(void *arg) {
    (void)arg;
    for (int i = 0; i < 300; i++) {
        pthread_rwlock_rdlock(&lock);
        if (a != b) broken = 1;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}
static void *writer(void *arg) {
    for (int i = 0; i < 100; i++) {
        pthread_rwlock_wrlock(&lock);
        a += (int)(long)arg;
        b += (int)(long)arg;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, i & 1 ? writer : reader, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%d %d %d\n", a, b, broken);
    return 0;
}
