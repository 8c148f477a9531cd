#ifndef EVENT_H
#define EVENT_H

enum action { ACTION_RING, ACTION_LAMP, ACTION_VALVE, ACTION_STOP };

/* Something to be done at a time. */
struct event {
    struct event *next;
    struct event *previous;
    long due;    /* ticks since the start */
    long period; /* until it is due again, 0: never */
    enum action action;
    int priority;
    int argument;
    char label[24];
};

struct event *event_new(const char *label, enum action action, long due);
void event_free(struct event *e);

const char *action_name(enum action action);

/* Returns -1 if there is none of that name. */
int action_named(const char *name);

/* Whether one comes before another: earlier, or more important. */
int event_before(const struct event *a, const struct event *b);

#endif
