/* Puts jobs into a queue and takes them out as they become due. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue.h"

static unsigned seed = 12345;

static unsigned roll(unsigned sides) {
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % sides;
}

int main(int argc, char **argv) {
    struct queue q = {0};
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    unsigned last = 0;
    unsigned taken = 0; /* so far */

    for (unsigned i = 0; i < count; i++) {
        struct job job = {roll(100), i};
        queue_add(&q, job);
    }
    while (!queue_empty(&q)) {
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
