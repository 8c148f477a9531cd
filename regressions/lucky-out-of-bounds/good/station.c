#include "station.h"

#include <stdlib.h>

static struct station *find(struct stations *s, int number) {
    int i;
    for (i = 0; i < s->count; i++)
        if (s->list[i].number == number)
            return &s->list[i];
    if (s->count == MAX_STATIONS)
        return NULL;
    s->list[s->count].number = number;
    return &s->list[s->count++];
}

int stations_note(struct stations *s, int number, enum channel c, int value) {
    struct station *station = find(s, number);
    if (!station)
        return 0;
    if (station->seen[c] == 0 || value < station->least[c])
        station->least[c] = value;
    if (station->seen[c] == 0 || value > station->most[c])
        station->most[c] = value;
    station->last[c] = value;
    station->seen[c]++;
    return 1;
}

static void print_value(int value, FILE *out) {
    fprintf(out, " %s%d.%02d", value < 0 ? "-" : "", abs(value) / 100, abs(value) % 100);
}

void stations_print(const struct stations *s, FILE *out) {
    int i, c;
    for (i = 0; i < s->count; i++) {
        const struct station *station = &s->list[i];
        for (c = 0; c < CHANNELS; c++) {
            if (!station->seen[c])
                continue;
            fprintf(out, "%d %s", station->number, channel_name((enum channel)c));
            print_value(station->least[c], out);
            print_value(station->last[c], out);
            print_value(station->most[c], out);
            fprintf(out, " %s\n", channel_unit((enum channel)c));
        }
    }
}
