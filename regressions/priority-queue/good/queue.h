#ifndef QUEUE_H
#define QUEUE_H

#include <stddef.h>

/* A job and the moment at which it is due. */
struct job {
    unsigned due;
    unsigned number;
};

struct queue {
    struct job *jobs;
    size_t used;
    size_t room;
};

void queue_add(struct queue *q, struct job job);
struct job queue_take(struct queue *q);
size_t queue_length(const struct queue *q);
void queue_free(struct queue *q);

#endif
