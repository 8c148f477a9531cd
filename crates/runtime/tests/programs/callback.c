// qsort calls back; longjmp leaves a callback; a signal interrupts.
#include "hooks.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t numbers[4] = { 4, 3, 2, 1 };
static jmp_buf place;

static int compare(const void *a, const void *b) {
    static struct function desc = { &module, 7, 2, "compare", 0, 0 };
    uint64_t args[] = { W(a), W(b) };
    int linked = __relapse_tls.call == W(compare);
    if (!linked) __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    uint64_t x = load(1, (uint64_t *)a), y = load(2, (uint64_t *)b);
    if (!linked) __relapse_leave(&desc);
    return x < y ? -1 : x > y;
}

static int jumps(const void *a, const void *b) {
    static struct function desc = { &module, 8, 2, "jumps", 0, 0 };
    uint64_t args[] = { W(a), W(b) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    static struct call to = { &module, 40, 0, 2, 0, 0, words };
    (void)to;
    __relapse_tls.call = W(longjmp);
    longjmp(place, 9);
}

static volatile sig_atomic_t seen;
static void handler(int signal) {
    static struct function desc = { &module, 9, 1, "handler", 0, 0 };
    uint64_t args[] = { W(signal) };
    struct context *outer = CTX;
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    seen = CTX == outer ? 1 : 2;
    CTX->time++;
    load(3, numbers);
    __relapse_leave(&desc);
}

int main(int argc, char **argv) {
    static struct function desc = { &module, 5, 2, "main", 1, 0 };
    uint64_t args[] = { W(argc), W(argv) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;
    CTX->stack -= 64;
    EXTERNAL_(30, qsort, 4, 0, KNOWN_qsort, (qsort(numbers, 4, 8, compare), 0), 0, W(numbers), 4, 8, W(compare));
    if (numbers[0] != 1 || __relapse_tls.call != 0) return 99;

    uint64_t stack = CTX->stack;
    int again = EXTERNAL_(31, _setjmp, 1, 1, KNOWN__setjmp, ({ int r = _setjmp(place); CTX->stack = stack; r; }), 0, W(place));
    if (!again)
        EXTERNAL_(32, qsort, 4, 0, KNOWN_qsort, (qsort(numbers, 4, 8, jumps), 0), 0, W(numbers), 4, 8, W(jumps));
    else if (again != 9) return 98;

    signal(SIGUSR1, handler);
    kill(getpid(), SIGUSR1);                 // as if it had come from elsewhere
    if (seen != 2) return 97;                // a context of its own
    EXTERNAL_(33, raise, 1, 0, KNOWN_raise, raise(SIGUSR1), 0, SIGUSR1);
    if (seen != 1) return 96;                // a callback of the call
    if (__relapse_tls.call != 0) return 95;
    __relapse_leave(&desc);
    return 0;
}
