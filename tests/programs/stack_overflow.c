// Recursion without end.
// signal: SEGV
// expect: down
#include <stdio.h>

static volatile int sink;

static int down(int n) {
    volatile char room[4096];
    room[n % 4096] = (char)n;
    sink = n;
    return n < 0 ? 0 : down(n + 1) + room[n % 4096];
}

int main(void) {
    puts("down");
    fflush(stdout);
    return down(1);
}
