// Exceptions by hand: a chain of handlers, rethrow, cleanup.
// expect: 0
// expect: 100
// expect: -20
// expect: 300
// expect: outer 41
// expect: 500
#include <setjmp.h>
#include <stdio.h>

struct frame { jmp_buf env; struct frame *up; };
static struct frame *top;
static void throw_(int code) { struct frame *f = top; top = f->up; longjmp(f->env, code); }

static int risky(int n) {
    if (n == 2) throw_(20);
    if (n == 4) throw_(40);
    return n * 100;
}

static int guarded(int n) {
    struct frame f;
    f.up = top;
    top = &f;
    int code = setjmp(f.env);
    if (code == 0) { int r = risky(n); top = f.up; return r; }
    if (code == 40) throw_(code + 1);
    return -code;
}

int main(void) {
    for (volatile int n = 0; n < 6; n++) {
        struct frame f;
        f.up = top;
        top = &f;
        int code = setjmp(f.env);
        if (code == 0) { printf("%d\n", guarded(n)); top = f.up; }
        else printf("outer %d\n", code);
    }
    return 0;
}
