// Loads, misses, copies, known and unknown externals, the end.
#include "hooks.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t initialised = 77;
static char text[64], other[64];

int main(int argc, char **argv) {
    static struct function desc = { &module, 5, 2, "main", 1, 0 };
    uint64_t args[] = { W(argc), W(argv) };
    __relapse_enter(&desc, args);
    __relapse_tls.call = 0;
    CTX->time++;

    load(10, &initialised);                  // misses: the shadow is empty
    load(11, &initialised);                  // does not
    uint64_t *local = (uint64_t *)(CTX->stack - 64);
    store(local, 5);
    if (load(12, local) != 5) return 99;     // does not
    *local = 6;                              // somebody else writes
    if (load(13, local) != 6) return 98;     // misses

    strcpy(text, "hello, world");            // somebody else
    static struct site copy = { &module, 20, 0 };
    __relapse_copy(CTX, &copy, CTX->time, other, text, 13);  // patches the source
    __relapse_copy(CTX, &copy, CTX->time, other + 3, other, 10);  // overlaps, nothing to patch
    if (memcmp(SHADOW(other), other, 64) || strcmp(other, "helhello, wor")) return 97;

    // Predicted: no event.
    uint64_t n = EXTERNAL_(30, strlen, 1, 0, KNOWN_strlen, strlen(other), 0, W(other));
    if (n != 13) return 96;
    EXTERNAL_(31, malloc, 1, 0, KNOWN_malloc, malloc(n), 0, n);
    int fd = EXTERNAL_(32, open, 2, 0, KNOWN_open, open(argv[1], O_RDONLY), 0, W(argv[1]), O_RDONLY);
    EXTERNAL_(33, read, 3, 0, KNOWN_read, read(fd, text, 4), 0, W(fd), W(text), 4);
    EXTERNAL_(34, read, 3, 0, KNOWN_read, read(fd, text + 4, 4), 0, W(fd), W(text + 4), 4);
    if (memcmp(SHADOW(text), text, 8)) return 95;
    EXTERNAL_(35, puts, 1, 0, KNOWN_puts, puts(text), 0, W(text));
    EXTERNAL_(36, printf, 2, 2, KNOWN_printf, printf("%s!\n", other), 0, W("%s!\n"), W(other));
    EXTERNAL_(37, getpid, 0, 0, 0, getppid(), 0, 0);   // unknown
    CTX->time += 3;
    __relapse_leave(&desc);
    return 3;
}
