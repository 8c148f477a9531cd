/*
 * A binary heap of jobs, with the one that is due first at the top.
 */
#include "queue.h"

#include <stdlib.h>
#include <string.h>

static int before(struct job a, struct job b) {
    if (a.due != b.due)
        return a.due < b.due;
    return a.number < b.number;
}

static void swap(struct queue *queue, size_t i, size_t j) {
    struct job kept = queue->jobs[i];
    queue->jobs[i] = queue->jobs[j];
    queue->jobs[j] = kept;
}

static void sift_up(struct queue *queue, size_t i) {
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (!before(queue->jobs[i], queue->jobs[parent]))
            break;
        swap(queue, i, parent);
        i = parent;
    }
}

static void sift_down(struct queue *queue, size_t i) {
    for (;;) {
        size_t candidates[2] = {2 * i + 1, 2 * i + 2};
        size_t first;
        if (candidates[0] >= queue->used)
            return;
        if (candidates[1] >= queue->used)
            first = candidates[0];
        else
            first = before(queue->jobs[candidates[0]], queue->jobs[candidates[1]]) ? candidates[0] : 0;
        if (first == 0)
            first = candidates[0];
        if (!before(queue->jobs[first], queue->jobs[i]))
            return;
        swap(queue, first, i);
        i = first;
    }
}

static void grow(struct queue *queue) {
    queue->room = queue->room ? queue->room * 2 : 8;
    queue->jobs = realloc(queue->jobs, queue->room * sizeof *queue->jobs);
    if (queue->jobs == NULL)
        abort(); /* nothing sensible can be done */
}

void queue_add(struct queue *queue, struct job job) {
    if (queue->used == queue->room)
        grow(queue);
    queue->jobs[queue->used] = job;
    sift_up(queue, queue->used);
    queue->used++;
}

struct job queue_take(struct queue *queue) {
    struct job top = queue->jobs[0];
    queue->used--;
    queue->jobs[0] = queue->jobs[queue->used];
    sift_down(queue, 0);
    return top;
}

size_t queue_length(const struct queue *queue) {
    return queue->used;
}

int queue_empty(const struct queue *queue) {
    return queue->used == 0;
}

void queue_free(struct queue *queue) {
    free(queue->jobs);
    memset(queue, 0, sizeof *queue);
}
