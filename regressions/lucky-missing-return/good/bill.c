#include "bill.h"

int round_up(int minutes, int step) {
    if (step <= 1)
        return minutes;
    return (minutes + step - 1) / step * step;
}

void bill_meeting(struct meeting *m, const struct tariff *t) {
    m->minutes = round_up(meeting_length(m), t->step);
    /* Never less than it took, whatever the tariff says. */
    if (m->minutes < meeting_length(m))
        m->minutes = meeting_length(m);
}

long bill_cost(int minutes, const struct tariff *t) {
    return ((long)minutes * t->rate + 30) / 60;
}
