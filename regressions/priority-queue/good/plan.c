/* Puts jobs into a queue and takes them out in the order in which they are due. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue.h"

static unsigned state = 12345;

static unsigned roll(unsigned sides) {
    state = state * 1103515245u + 12345u;
    return (state >> 16) % sides;
}

int main(int argc, char **argv) {
    struct queue q = {0};
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    unsigned last = 0;
    unsigned taken = 0;

    for (unsigned i = 0; i < n; i++) {
        struct job job = {roll(100), i};
        queue_add(&q, job);
    }
    while (queue_length(&q) > 0) {
        struct job job = queue_take(&q);
        assert(job.due >= last);
        last = job.due;
        taken++;
        if (taken % 10 == 0)
            printf("%u jobs done at %u\n", taken, last);
    }
    queue_free(&q);
    printf("all done\n");
    return 0;
}
