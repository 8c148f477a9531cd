// A handler on a stack of its own tells a stack overflow from other faults, as gnulib's c-stack does:
// by the mapping in which a local of `main` lies.
// expect: small frames: stack overflow
// expect: large frames: stack overflow
// expect: foreign frames: stack overflow
// expect: no frames: another fault
#include <regex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uintptr_t local_of_main;
static volatile int sink;

static int near_stack(uintptr_t fault) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    uintptr_t start, end, before = 0;
    int near = 0;
    while (maps && fgets(line, sizeof line, maps) && sscanf(line, "%lx-%lx", &start, &end) == 2) {
        if (start <= local_of_main && local_of_main < end)
            near = fault >= start ? fault < end : fault >= before && start - fault <= (start - before) / 2;
        before = end;
    }
    return near;
}

static void handler(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    const char *text = near_stack((uintptr_t)info->si_addr) ? "stack overflow\n" : "another fault\n";
    write(1, text, strlen(text));
    _exit(0);
}

__attribute__((noinline)) static int small(int n) {
    sink = n;
    return n < 0 ? 0 : small(n + 1) + sink;
}

__attribute__((noinline)) static int large(int n) {
    volatile char room[100000];
    room[n % 100000] = (char)n;
    return n < 0 ? 0 : large(n + 1) + room[n % 100000];
}

// In the C library.
static void foreign(void) {
    enum { DEPTH = 20000 };
    static char pattern[DEPTH + 1];
    regex_t compiled;
    memset(pattern, '(', DEPTH);
    regcomp(&compiled, pattern, REG_EXTENDED);
}

int main(void) {
    volatile int local = 0;
    local_of_main = (uintptr_t)&local;
    char *stack = malloc(1 << 16);
    stack_t own = {.ss_sp = stack, .ss_size = 1 << 16};
    sigaltstack(&own, NULL);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 400 << 10;
    setrlimit(RLIMIT_STACK, &limit);
    static const char *const names[] = {"small", "large", "foreign", "no"};
    for (int i = 0; i < 4; i++) {
        printf("%s frames: ", names[i]);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (i == 0)
                small(1);
            else if (i == 1)
                large(1);
            else if (i == 2)
                foreign();
            *(volatile int *)(uintptr_t)(sink - sink + 8) = 1;
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
