#include "plan.h"

#include <stdlib.h>
#include <string.h>

void plan_init(struct plan *p) {
    memset(p, 0, sizeof *p);
}

void plan_add(struct plan *p, int target, int level) {
    struct step *step = &p->steps[p->count];
    step->target = target;
    step->level = level;
    step->number = p->count;
    p->count++;
    p->dirty = 1;
}

void plan_make(struct plan *p, const struct rules *r, const struct staleness *s) {
    int i;
    for (i = 0; i < r->count; i++)
        if (s->reason[i] != UP_TO_DATE)
            plan_add(p, i, s->level[i]);
}

static int before(const struct step *a, const struct step *b, const struct rules *r) {
    (void)r;
    if (a->level != b->level)
        return a->level < b->level;
    return a->number < b->number;
}

void plan_arrange(struct plan *p, const struct rules *r) {
    int i, k;
    if (!p->dirty)
        return;
    for (i = 1; i < p->count; i++) {
        struct step step = p->steps[i];
        for (k = i; k > 0 && before(&step, &p->steps[k - 1], r); k--)
            p->steps[k] = p->steps[k - 1];
        p->steps[k] = step;
    }
    p->dirty = 0;
}

void plan_print(const struct plan *p, const struct rules *r, const struct staleness *s, FILE *out) {
    int i;
    for (i = 0; i < p->count; i++) {
        int target = p->steps[i].target;
        int cause = s->cause[target];
        fprintf(out, "%d. %s (%s%s%s)\n", i + 1, r->targets[target].name,
                reason_name(s->reason[target]), cause >= 0 ? " " : "",
                cause >= 0 ? r->targets[cause].name : "");
    }
    if (p->count == 0)
        fprintf(out, "nothing to do\n");
}
