// Handlers run on raise; one reinstalls itself; one is reset.
// expect: 7 5
// expect: 1
// expect: 5 1
// expect: 7 6
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t seen[3];
static void on_usr1(int s) { seen[0] += s == SIGUSR1; }
static void on_usr2(int s, siginfo_t *info, void *context) {
    (void)context;
    seen[1] += s == SIGUSR2 && info != NULL;
    if (seen[1] < 3) raise(SIGUSR1);
}

int main(void) {
    signal(SIGUSR1, on_usr1);
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_usr2;
    a.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR2, &a, NULL);
    for (int i = 0; i < 5; i++) { raise(SIGUSR1); raise(SIGUSR2); }
    printf("%d %d\n", (int)seen[0], (int)seen[1]);
    struct sigaction old;
    sigaction(SIGUSR1, NULL, &old);
    printf("%d\n", old.sa_handler == on_usr1);
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    sigpending(&pending);
    printf("%d %d\n", (int)seen[1], sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("%d %d\n", (int)seen[0], (int)seen[1]);
    return 0;
}
