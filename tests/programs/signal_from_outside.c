// A signal that somebody sends, to a loop that calls nothing: neither a fault to look for nor a call
// that would have written the time down.
// opaque:
// signal: SEGV
// expect: waiting
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct node {
    long value;
    struct node *next;
};

int main(void) {
    struct node a = {1, 0}, b = {2, &a};
    a.next = &b;
    puts("waiting");
    fflush(stdout);
    pid_t parent = getpid();
    if (fork() == 0) {
        usleep(200000);
        kill(parent, SIGSEGV);
        _exit(0);
    }
    long sum = 0;
    for (struct node *p = &a; p; p = p->next)
        sum += p->value;
    return (int)sum;
}
