// The same setjmp landed on many times; a retry counter in memory.
// expect: start
// expect: again 1
// expect: again 2
// expect: three
// expect: again 4
// expect: again 5
// expect: again 6
// expect: 7
#include <setjmp.h>
#include <stdio.h>

static jmp_buf env;
static int attempts;

static int fails(void) {
    if (++attempts < 7) longjmp(env, attempts);
    return attempts;
}

static int try_(void) {
    switch (setjmp(env)) {
    case 0: puts("start"); break;
    case 3: puts("three"); break;
    default: printf("again %d\n", attempts);
    }
    return fails();
}

int main(void) {
    printf("%d\n", try_());
    return 0;
}
