// expect: 927360 hit
// A timer interrupts code that does nothing but call: every point between two
// instructions of the call protocol is hit sooner or later.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int hits;
static int noise[4];

static int add(int a, int b) { return a + b; }

static void handler(int signal) {
    (void)signal;
    hits = add(hits, 1);
    noise[hits & 3] = hits;
}

static int fib(int n) { return n < 2 ? n : add(fib(n - 1), fib(n - 2)); }

int main(void) {
    signal(SIGALRM, handler);
    struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &often, 0);
    int x = 0;
    for (int i = 0; i < 20; i++) x += fib(24);
    setitimer(ITIMER_REAL, &never, 0);
    printf("%d %s\n", x, hits > 0 ? "hit" : "none");
    return 0;
}
