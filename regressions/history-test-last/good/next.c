#include "next.h"

enum { HORIZON = 30 };

/* As cron does: if both day fields are restricted, either will do. */
static int day_is_due(const struct schedule *schedule, const struct moment *moment) {
    int by_day = schedule_has(schedule->days, moment->day);
    int by_weekday = schedule_has(schedule->weekdays, moment_weekday(moment));
    if (schedule->any_day || schedule->any_weekday)
        return by_day && by_weekday;
    return by_day || by_weekday;
}

int next_due(const struct schedule *schedule, struct moment *moment) {
    int last = moment->year + HORIZON;
    moment_next_minute(moment);
    while (moment->year <= last) {
        if (!schedule_has(schedule->months, moment->month)) {
            moment_next_month(moment);
            continue;
        }
        if (!day_is_due(schedule, moment)) {
            moment_next_day(moment);
            continue;
        }
        if (!schedule_has(schedule->hours, moment->hour)) {
            moment_next_hour(moment);
            continue;
        }
        if (!schedule_has(schedule->minutes, moment->minute)) {
            moment_next_minute(moment);
            continue;
        }
        return 1;
    }
    return 0;
}
