#include "queue.h"

#include <stddef.h>
#include <string.h>

void queue_init(struct queue *q) {
    q->first = q->last = NULL;
    q->count = 0;
}

void queue_free(struct queue *q) {
    while (q->first) {
        struct event *e = q->first;
        q->first = e->next;
        event_free(e);
    }
    queue_init(q);
}

void queue_add(struct queue *q, struct event *e) {
    struct event *after = q->last;
    while (after && event_before(e, after))
        after = after->previous;
    e->previous = after;
    e->next = after ? after->next : q->first;
    if (e->next)
        e->next->previous = e;
    else
        q->last = e;
    if (after)
        after->next = e;
    else
        q->first = e;
    q->count++;
}

void queue_remove(struct queue *q, struct event *e) {
    if (e->previous)
        e->previous->next = e->next;
    else
        q->first = e->next;
    if (e->next)
        e->next->previous = e->previous;
    else
        q->last = e->previous;
    q->count--;
}

struct event *queue_first(const struct queue *q) {
    return q->first;
}

struct event *queue_find(const struct queue *q, const char *label) {
    struct event *e;
    for (e = q->first; e; e = e->next)
        if (strcmp(e->label, label) == 0)
            return e;
    return NULL;
}
