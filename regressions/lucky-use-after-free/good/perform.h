#ifndef PERFORM_H
#define PERFORM_H

#include "event.h"
#include "queue.h"

/* The house, as far as events change it. */
struct house {
    int lamp;
    int valve;
    int rings;
    int stopped;
    long tick; /* actions take place at multiples of this */
    long now;
};

void house_init(struct house *h, long tick);

/* Does what an event says when it is due, or at the next tick, and
   puts it into the queue again if it is periodic. */
void perform(struct house *h, struct queue *q, struct event *e);

#endif
