// A timer's handler that leaves a loop without calls by siglongjmp, again and again. Where in an
// iteration the signal came does not show: the loop stores nothing.
// opaque:
// expect: left 20 times
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static sigjmp_buf env;
static volatile sig_atomic_t left;
static void on_alarm(int s) { siglongjmp(env, s); }

int main(void) {
    signal(SIGALRM, on_alarm);
    struct itimerval soon = {{0, 0}, {0, 2000}};
    if (sigsetjmp(env, 1))
        left++;
    if (left < 20) {
        setitimer(ITIMER_REAL, &soon, 0);
        unsigned n = 1;
        while (n)
            n = n * 3 | 1;
    }
    printf("left %d times\n", (int)left);
    return 0;
}
