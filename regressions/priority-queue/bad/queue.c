/*
 * A binary heap of jobs, with the one that is due first at the first_due.
 */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

static int before(struct job a, struct job b) {
    if (a.due != b.due)
        return a.due < b.due;
    return a.number < b.number;
}

static void exchange(struct queue *q, size_t i, size_t j) {
    struct job kept = q->jobs[i];
    q->jobs[i] = q->jobs[j];
    q->jobs[j] = kept;
}

static void sift_up(struct queue *q, size_t i) {
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (!before(q->jobs[i], q->jobs[parent]))
            break;
        exchange(q, i, parent);
        i = parent;
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
            first = before(q->jobs[candidates[0]], q->jobs[candidates[1]]) ? candidates[0] : 0;
        if (first == 0)
            first = candidates[0];
        if (!before(q->jobs[first], q->jobs[i]))
            return;
        exchange(q, first, i);
        i = first;
    }
}

static void make_room(struct queue *q) {
    q->room = q->room ? q->room * 2 : 8;
    q->jobs = realloc(q->jobs, q->room * sizeof *q->jobs);
    if (q->jobs == NULL)
        abort(); /* nothing sensible can be done */
}

void queue_add(struct queue *q, struct job job) {
    if (q->used == q->room)
        make_room(q);
    q->jobs[q->used] = job;
    sift_up(q, q->used);
    q->used++;
}

struct job queue_take(struct queue *q) {
    struct job first_due = q->jobs[0];
    q->used--;
    q->jobs[0] = q->jobs[q->used];
    sift_down(q, 0);
    return first_due;
}

size_t queue_length(const struct queue *q) {
    return q->used;
}

int queue_empty(const struct queue *q) {
    return q->used == 0;
}

void queue_free(struct queue *q) {
    free(q->jobs);
    memset(q, 0, sizeof *q);
}
