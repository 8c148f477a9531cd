#include "stale.h"

#include <string.h>

enum { UNSEEN, BUSY, SEEN };

static void visit(struct staleness *s, const struct rules *r, int number, char *state) {
    const struct target *t = &r->targets[number];
    int i;
    if (state[number] == SEEN)
        return;
    if (state[number] == BUSY) {
        s->circular = 1;
        return;
    }
    state[number] = BUSY;
    s->cause[number] = -1;
    if (!t->is_source && t->stamp == 0)
        s->reason[number] = MISSING;
    for (i = 0; i < t->need_count; i++) {
        int need = t->needs[i];
        visit(s, r, need, state);
        if (s->level[need] >= s->level[number])
            s->level[number] = s->level[need] + 1;
        if (s->reason[number] != UP_TO_DATE)
            continue;
        if (s->reason[need] != UP_TO_DATE) {
            s->reason[number] = NEEDS_REBUILT;
            s->cause[number] = need;
        } else if (r->targets[need].stamp > t->stamp) {
            s->reason[number] = OLDER;
            s->cause[number] = need;
        }
    }
    state[number] = SEEN;
}

void stale_find(struct staleness *s, const struct rules *r) {
    char state[MAX_TARGETS] = {0};
    int i;
    memset(s, 0, sizeof *s);
    for (i = 0; i < r->count; i++)
        visit(s, r, i, state);
}

const char *reason_name(enum reason reason) {
    switch (reason) {
    case MISSING:
        return "missing";
    case OLDER:
        return "older than";
    case NEEDS_REBUILT:
        return "needs";
    default:
        return "up to date";
    }
}
