// What programs learn of the handlers that were set before theirs, put back, and rely on.
// expect: default default
// expect: own own
// expect: default default
// expect: 45000
// signal: SEGV
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*handler)(int);

static handler of_float, of_fault;
static volatile int caught;

static void catch_it(int number)
{
    caught += number;
}

static const char *name(handler h)
{
    return h == SIG_DFL ? "default" : h == catch_it ? "own" : "something else";
}

static handler set(int number, handler new)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = new;
    sigaction(number, &action, &old);
    return old.sa_handler;
}

/// Memory that was not touched before.
static int work(void)
{
    enum { COUNT = 10000 };
    int sum = 0, *many = malloc(COUNT * 100 * sizeof *many);
    for (int i = 0; i < COUNT; i++)
        many[i * 100] = i % 10;
    for (int i = 0; i < COUNT; i++)
        sum += many[i * 100];
    free(many);
    return sum;
}

int main(void)
{
    of_float = signal(SIGFPE, SIG_IGN);
    of_fault = set(SIGSEGV, catch_it);
    printf("%s %s\n", name(of_float), name(of_fault));
    signal(SIGFPE, catch_it);
    raise(SIGFPE);
    printf("%s %s\n", name(signal(SIGFPE, of_float)), name(set(SIGSEGV, of_fault)));
    printf("%s %s\n", name(signal(SIGFPE, SIG_DFL)), name(signal(SIGSEGV, SIG_DFL)));
    printf("%d\n", work());
    fflush(stdout);
    *(volatile int *)(caught - SIGFPE + 8L) = 1;
    return 0;
}
