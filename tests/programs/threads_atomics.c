// C11 atomics of several widths and operations.
// flags: -pthread
// expect: 900 ffffffffffffffff 124 2299 900
// expect: 2299 5 18446744073709551615
// expect: 6 255
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int counter;
static atomic_ulong bits;
static atomic_uchar small;
static _Atomic long best = -1;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static int guarded;

static void *work(void *arg) {
    long id = (long)arg;
    for (int i = 0; i < 300; i++) {
        atomic_fetch_add(&counter, 1);
        atomic_fetch_or_explicit(&bits, 1UL << ((id * 16 + i) % 64), memory_order_relaxed);
        atomic_fetch_sub(&small, 1);
        long v = id * 1000 + i, old = atomic_load(&best);
        while (old < v && !atomic_compare_exchange_weak(&best, &old, v)) {}
        while (atomic_flag_test_and_set_explicit(&spin, memory_order_acquire)) {}
        guarded++;
        atomic_flag_clear_explicit(&spin, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    printf("%d %lx %d %ld %d\n", counter, bits, small, best, guarded);
    long was = atomic_exchange(&best, 5);
    printf("%ld %ld %lu\n", was, atomic_fetch_xor(&best, 3), atomic_fetch_and(&bits, 0xff));
    printf("%ld %lu\n", best, bits);
    return 0;
}
