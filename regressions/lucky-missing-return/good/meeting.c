#include "meeting.h"

#include <stdio.h>
#include <string.h>

#include "daytime.h"

int calendar_add(struct calendar *c, const char *line) {
    char from[8], to[8];
    struct meeting *m;
    if (c->count == MAX_MEETINGS)
        return 0;
    m = &c->meetings[c->count];
    memset(m, 0, sizeof *m);
    if (sscanf(line, "%23s %7s %7s %d %39[^\n]", m->client, from, to, &m->pause, m->title) != 5)
        return 0;
    m->from = daytime_parse(from);
    m->to = daytime_parse(to);
    if (m->from < 0 || m->to < 0 || m->pause < 0)
        return 0;
    c->count++;
    return 1;
}

int meeting_length(const struct meeting *m) {
    int minutes = daytime_between(m->from, m->to) - m->pause;
    return minutes > 0 ? minutes : 0;
}

void calendar_sort(struct calendar *c) {
    int i, k;
    for (i = 1; i < c->count; i++) {
        struct meeting m = c->meetings[i];
        for (k = i; k > 0 && m.from < c->meetings[k - 1].from; k--)
            c->meetings[k] = c->meetings[k - 1];
        c->meetings[k] = m;
    }
}

static int overlap(const struct meeting *a, const struct meeting *b) {
    return daytime_between(a->from, b->from) < daytime_between(a->from, a->to);
}

int calendar_overlaps(const struct calendar *c) {
    int i, k, count = 0;
    for (i = 0; i < c->count; i++) {
        for (k = 0; k < c->count; k++) {
            if (k != i && overlap(&c->meetings[i], &c->meetings[k])) {
                count++;
                break;
            }
        }
    }
    return count;
}
