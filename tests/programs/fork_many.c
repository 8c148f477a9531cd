// Children that are forked from one parent one after the other, and from each other: each goes on
// from its parent's state.
// opaque:
// expect: 0 1000
// expect: 1 2000
// expect: 2 3000
// expect: 3 4000
// expect: end 14000
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int *cells, int n) {
    int sum = 0;
    for (int i = 0; i < 1000; i++) {
        cells[i] += n;
        sum += cells[i];
    }
    return sum;
}

int main(void) {
    int *cells = calloc(1000, sizeof *cells);
    int status, last = 0;
    for (int child = 0; child < 4; child++) {
        last = work(cells, 1);
        if (fork() == 0) {
            printf("%d %d\n", child, last);
            fflush(stdout);
            if (fork() == 0)
                _exit(work(cells, 10) == last + 10000 ? 0 : 1);
            wait(&status);
            _exit(status != 0 || work(cells, 1) != last + 1000);
        }
        wait(&status);
        if (status)
            return 1;
    }
    printf("end %d\n", work(cells, 10));
    free(cells);
    return 0;
}
