#include "plan.h"

#include <stdlib.h>

/* Minutes since midnight of a time as 7:30, or -1. */
int parse_time(const char *text) {
    char *end;
    long hours = strtol(text, &end, 10), minutes;

    if (end == text || *end != ':' || hours < 0 || hours > 23)
        return -1;
    text = end + 1;
    minutes = strtol(text, &end, 10);
    if (end == text || *end != '\0' || minutes < 0 || minutes > 59)
        return -1;
    return (int)(hours * 60 + minutes);
}

void format_time(int minutes, char *text, size_t size) {
    snprintf(text, size, "%02d:%02d", minutes / 60, minutes % 60);
}
