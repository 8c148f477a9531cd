#ifndef CALENDAR_H
#define CALENDAR_H

/* Day 0 is a Thursday; days before it are negative. */
enum { DAYS_OF_WEEK = 7, YEAR = 365 };

/* Division that rounds down, not towards zero. */
static inline long floor_div(long a, long b) {
    return a / b;
}

static inline long floor_mod(long a, long b) {
    return a - floor_div(a, b) * b;
}

static inline const char *weekday(long day) {
    static const char *const names[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    long at = floor_mod(day, DAYS_OF_WEEK);
    return at >= 0 && at < DAYS_OF_WEEK ? names[at] : "???";
}

#endif
