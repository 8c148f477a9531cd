#include "daytime.h"

#include <stdio.h>

int daytime_parse(const char *text) {
    int hours, minutes;
    if (sscanf(text, "%d:%d", &hours, &minutes) != 2)
        return -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return -1;
    return hours * 60 + minutes;
}

int daytime_between(int from, int to) {
    int minutes = to - from;
    if (minutes < 0)
        minutes += DAY_MINUTES;
    return minutes;
}

void daytime_write(int minutes, char *text, int room) {
    snprintf(text, (unsigned)room, "%d:%02d", minutes / 60, minutes % 60);
}
