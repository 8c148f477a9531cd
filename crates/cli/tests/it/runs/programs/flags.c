#include <stdio.h>
#include <stdlib.h>

struct state {
    unsigned open : 3;
    unsigned mode : 5;
    int level : 4;
    unsigned rest;
};

static struct state state;

static void set(int mode) {
    state.open = 5;
    state.mode = mode;
    state.level = -2;
    state.rest = 7;
}

int main(int argc, char **argv) {
    set(argc > 1 ? atoi(argv[1]) : 0);
    printf("%u %d\n", state.mode + state.open, state.level);
    return 0;
}
