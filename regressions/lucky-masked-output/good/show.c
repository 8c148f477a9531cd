#include "show.h"

/* What the panel can show. */
#define LARGEST 999
#define SMALLEST -99

void show_level(fixed level, char *text, int room) {
    const char *sign = level < 0 ? "-" : "";
    if (level > LARGEST) {
        snprintf(text, (unsigned)room, "over");
        return;
    }
    if (level < SMALLEST) {
        snprintf(text, (unsigned)room, "under");
        return;
    }
    if (level < 0)
        level = -level;
    snprintf(text, (unsigned)room, "%s%ld.%ld", sign, level / 10, level % 10);
}

static void show_bar(fixed level, const struct view *v, FILE *out) {
    long length = v->scale > 0 ? level * v->bars / v->scale : 0;
    int i;
    if (length > v->bars)
        length = v->bars;
    fprintf(out, " [");
    for (i = 0; i < v->bars; i++)
        putc(i < length ? '#' : ' ', out);
    fprintf(out, "]");
}

static const char *trend_name(int trend) {
    if (trend == 0)
        return "steady";
    return trend > 0 ? "rising" : "falling";
}

void show_board(const struct board *b, const struct view *v, FILE *out) {
    int i;
    for (i = 0; i < b->count; i++) {
        const struct channel *c = &b->channels[i];
        char mean[16], peak[16];
        show_level(c->meter.mean, mean, (int)sizeof mean);
        show_level(c->meter.peak, peak, (int)sizeof peak);
        fprintf(out, "%-10s %5s %5s", c->name, mean, peak);
        if (v->bars)
            show_bar(c->meter.peak, v, out);
        if (v->trends)
            fprintf(out, " %s", trend_name(meter_trend(&c->meter)));
        fprintf(out, "\n");
    }
}
