/* Writes records "name,amount", made up but always the same. */
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {"cat", "dog", "owl", "hen"};

static unsigned state = 7;

static unsigned roll(unsigned sides) {
    state = state * 1664525u + 1013904223u;
    return (state >> 20) % sides;
}

static void record(int number) {
    const char *name = names[roll(4)];
    int amount = (int)roll(50) + number;
    printf("%s,%d\n", name, amount);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 5;
    for (int i = 0; i < count; i++)
        record(i);
    return 0;
}
