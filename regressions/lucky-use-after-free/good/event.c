#include "event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"ring", "lamp", "valve", "stop"};

#define NAMES (int)(sizeof names / sizeof names[0])

struct event *event_new(const char *label, enum action action, long due) {
    struct event *e = calloc(1, sizeof *e);
    if (!e) {
        fprintf(stderr, "agenda: out of memory\n");
        exit(3);
    }
    snprintf(e->label, sizeof e->label, "%s", label);
    e->action = action;
    e->due = due;
    return e;
}

void event_free(struct event *e) {
    free(e);
}

const char *action_name(enum action action) {
    return (int)action < NAMES ? names[action] : "?";
}

int action_named(const char *name) {
    int i;
    for (i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int event_before(const struct event *a, const struct event *b) {
    if (a->due != b->due)
        return a->due < b->due;
    return a->priority > b->priority;
}
