/* The five fields of a crontab line. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdint.h>

/* Bit n of a mask is set if the value n is wanted. */
struct schedule {
    uint64_t minutes;
    uint64_t hours;
    uint64_t days;
    uint64_t months;
    uint64_t weekdays;
    int any_day;
    int any_weekday;
};

/* Reads `text`. On failure returns 0 and lets `*problem` say why. */
int schedule_parse(struct schedule *schedule, const char *text, const char **problem);

int schedule_has(uint64_t mask, int value);

#endif
