#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>

/* A job, and the moment at which it is due. Jobs due at once run by number. */
struct job {
    unsigned due;
    unsigned number;
};

struct queue {
    struct job *jobs;
    size_t used;
    size_t room;
};

void queue_add(struct queue *queue, struct job job);
struct job queue_take(struct queue *queue);
size_t queue_length(const struct queue *queue);
int queue_empty(const struct queue *queue);
void queue_free(struct queue *queue);

#endif
