/* A heap of jobs, the one due first at the top. */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

static int before(struct job a, struct job b) {
    if (a.due != b.due)
        return a.due < b.due;
    return a.number < b.number;
}

static void swap(struct queue *q, size_t i, size_t j) {
    struct job t = q->jobs[i];
    q->jobs[i] = q->jobs[j];
    q->jobs[j] = t;
}

static void sift_up(struct queue *q, size_t i) {
    while (i > 0) {
        size_t p = (i - 1) / 2;
        if (!before(q->jobs[i], q->jobs[p]))
            break;
        swap(q, i, p);
        i = p;
    }
}

static void sift_down(struct queue *q, size_t i) {
    for (;;) {
        size_t candidates[2] = {2 * i + 1, 2 * i + 2};
        size_t first;
        if (candidates[0] >= q->used)
            return;
        if (candidates[1] >= q->used)
            first = candidates[0];
        else
            first = before(q->jobs[candidates[0]], q->jobs[candidates[1]]) ? candidates[0] : candidates[1];
        if (!before(q->jobs[first], q->jobs[i]))
            return;
        swap(q, first, i);
        i = first;
    }
}

static void grow(struct queue *q) {
    q->room = q->room ? q->room * 2 : 8;
    q->jobs = realloc(q->jobs, q->room * sizeof *q->jobs);
    if (q->jobs == NULL)
        abort();
}

void queue_add(struct queue *q, struct job job) {
    if (q->used == q->room)
        grow(q);
    q->jobs[q->used] = job;
    sift_up(q, q->used);
    q->used++;
}

struct job queue_take(struct queue *q) {
    struct job top = q->jobs[0];
    q->used--;
    q->jobs[0] = q->jobs[q->used];
    sift_down(q, 0);
    return top;
}

size_t queue_length(const struct queue *q) {
    return q->used;
}

void queue_free(struct queue *q) {
    free(q->jobs);
    memset(q, 0, sizeof *q);
}
