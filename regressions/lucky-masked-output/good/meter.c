#include "meter.h"

#include <string.h>

void meter_init(struct meter *m, int window) {
    memset(m, 0, sizeof *m);
    m->window = window > 0 ? window : 1;
}

static void close_window(struct meter *m) {
    m->before = m->closed ? m->mean : 0;
    m->mean = fixed_divide(m->sum, m->filled);
    if (m->closed == 0 || m->mean > m->peak)
        m->peak = m->mean;
    m->closed++;
    m->sum = 0;
    m->filled = 0;
}

void meter_add(struct meter *m, fixed sample) {
    m->sum += sample;
    m->filled++;
    if (m->filled == m->window)
        close_window(m);
}

void meter_finish(struct meter *m) {
    if (m->filled > 0)
        close_window(m);
}

int meter_trend(const struct meter *m) {
    if (m->closed < 2 || m->mean == m->before)
        return 0;
    return m->mean > m->before ? 1 : -1;
}
