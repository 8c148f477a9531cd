// The C11 thread library.
// flags: -pthread
// expect: 600 12
#include <stdio.h>
#include <threads.h>

static mtx_t lock;
static int total;
static once_flag flag = ONCE_FLAG_INIT;
static void init(void) { mtx_init(&lock, mtx_plain); }
static int work(void *arg) {
    call_once(&flag, init);
    for (int i = 0; i < 100; i++) { mtx_lock(&lock); total += *(int *)arg; mtx_unlock(&lock); }
    return *(int *)arg * 2;
}

int main(void) {
    thrd_t t[3];
    int args[3] = {1, 2, 3}, sum = 0;
    for (int i = 0; i < 3; i++) thrd_create(&t[i], work, &args[i]);
    for (int i = 0; i < 3; i++) { int r; thrd_join(t[i], &r); sum += r; }
    printf("%d %d\n", total, sum);
    return 0;
}
