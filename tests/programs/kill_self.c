// signal: TERM
// expect: going
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    puts("going");
    fflush(stdout);
    kill(getpid(), SIGTERM);
    for (;;) pause();
}
