// longjmp over many frames, with locals before and after.
// expect: 20 20 6 10
// expect: 40 40 8 20
// expect: 60 60 11 30
// expect: 80 80 15 40
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;
static int depth_reached;

static void descend(int n, int limit) {
    int local[4] = {n, n + 1, n + 2, n + 3};
    depth_reached = local[0];
    if (n == limit) longjmp(env, limit);
    descend(n + 1, limit);
    printf("never %d\n", local[1]);
}

int main(void) {
    volatile int kept = 5;
    for (int limit = 1; limit <= 4; limit++) {
        volatile int in_loop = limit * 10;
        int r = setjmp(env);
        if (r == 0) { kept += limit; descend(0, limit * 20); }
        else printf("%d %d %d %d\n", r, depth_reached, kept, in_loop);
    }
    return 0;
}
