// A handler that leaves by siglongjmp, again and again.
// expect: round 0 0
// expect: round 1 1
// expect: round 2 1
// expect: round 3 1
// expect: done
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf env;
static volatile int rounds;
static void on_segv(int s) { siglongjmp(env, s); }

int main(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_segv;
    sigaction(SIGSEGV, &a, NULL);
    int s = sigsetjmp(env, 1);
    printf("round %d %d\n", rounds, s == SIGSEGV);
    if (rounds++ < 3) {
        int *volatile p = NULL;
        *p = rounds;
    }
    puts("done");
    return 0;
}
