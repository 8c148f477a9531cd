// A timer interrupts instrumented code at a moment nobody can name.
// expect: 1 1
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static unsigned long work;
static void on_alarm(int s) { (void)s; ticks++; }

int main(void) {
    signal(SIGALRM, on_alarm);
    struct itimerval t = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &t, NULL);
    while (ticks < 5) work = work * 3 + 1;
    t = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &t, NULL);
    printf("%d %d\n", ticks >= 5, work != 0);
    return 0;
}
