// Handlers run after main has returned, in reverse order.
// exit: 3
// expect: constructor
// expect: main
// expect: second 10
// expect: first 11
// expect: first 12
// expect: destructor 13
#include <stdio.h>
#include <stdlib.h>

static int count = 1;
static void first(void) { printf("first %d\n", count++); }
static void second(void) { printf("second %d\n", count++); atexit(first); }
__attribute__((constructor)) static void before(void) { count = 10; puts("constructor"); }
__attribute__((destructor)) static void after(void) { printf("destructor %d\n", count); }

int main(void) {
    atexit(first);
    atexit(second);
    puts("main");
    return 3;
}
