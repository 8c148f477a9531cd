// Waiting calls: nanosleep, poll and select on a pipe.
// expect: 0
// expect: 1 1
// expect: 1 1
// expect: 0
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    int p[2];
    if (pipe(p)) return 1;
    struct pollfd f = {p[0], POLLIN, 0};
    printf("%d\n", poll(&f, 1, 1));
    if (write(p[1], "x", 1) != 1) return 1;
    printf("%d %d\n", poll(&f, 1, 100), f.revents == POLLIN);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    struct timeval tv = {1, 0};
    printf("%d %d\n", select(p[0] + 1, &set, NULL, NULL, &tv), FD_ISSET(p[0], &set) != 0);
    struct timespec t = {0, 1000000};
    printf("%d\n", nanosleep(&t, NULL));
    return 0;
}
