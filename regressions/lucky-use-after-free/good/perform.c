#include "perform.h"

#include <string.h>

void house_init(struct house *h, long tick) {
    memset(h, 0, sizeof *h);
    h->tick = tick > 0 ? tick : 1;
}

/* To the tick at which an event takes place. */
static void align(const struct house *h, struct event *e) {
    long late = e->due % h->tick;
    if (late)
        e->due += h->tick - late;
}

static void again(struct queue *q, const struct event *e, long due) {
    struct event *next = event_new(e->label, e->action, due);
    next->period = e->period;
    next->priority = e->priority;
    next->argument = e->argument;
    queue_add(q, next);
}

void perform(struct house *h, struct queue *q, struct event *e) {
    long asked = e->due;
    align(h, e);
    h->now = e->due;
    switch (e->action) {
    case ACTION_RING:
        h->rings += e->argument > 0 ? e->argument : 1;
        break;
    case ACTION_LAMP:
        h->lamp = e->argument;
        break;
    case ACTION_VALVE:
        h->valve = e->argument;
        break;
    case ACTION_STOP:
        h->stopped = 1;
        break;
    }
    if (e->period > 0)
        again(q, e, asked + e->period);
}
