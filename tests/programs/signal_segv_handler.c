// The program's own SIGSEGV handler ends the process in order.
// exit: 9
// expect: caught 16
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void on_segv(int s, siginfo_t *info, void *context) {
    (void)s;
    (void)context;
    const char *m = info->si_addr == (void *)16 ? "caught 16\n" : "caught other\n";
    if (write(1, m, strlen(m)) < 0) _exit(1);
    _exit(9);
}

int main(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_segv;
    a.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &a, NULL);
    int *volatile p = (int *)16;
    return *p;
}
