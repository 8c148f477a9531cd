#ifndef QUEUE_H
#define QUEUE_H

#include "event.h"

/* Events in the order in which they are due. */
struct queue {
    struct event *first;
    struct event *last;
    int count;
};

void queue_init(struct queue *q);
void queue_free(struct queue *q);

/* Behind all that are not after it. */
void queue_add(struct queue *q, struct event *e);

/* Takes an event out; the caller frees it. */
void queue_remove(struct queue *q, struct event *e);

struct event *queue_first(const struct queue *q);
struct event *queue_find(const struct queue *q, const char *label);

#endif
