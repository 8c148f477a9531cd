#include "moment.h"

#include <stdio.h>

int moment_leap_year(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int moment_days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month == 2 && moment_leap_year(year))
        return 29;
    return days[month - 1];
}

/* Days since 0000-03-01. */
static long day_number(int year, int month, int day) {
    long y = month > 2 ? year : year - 1;
    long m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
}

int moment_weekday(const struct moment *moment) {
    return (int)((day_number(moment->year, moment->month, moment->day) + 3) % 7);
}

void moment_next_month(struct moment *moment) {
    moment->minute = 0;
    moment->hour = 0;
    moment->day = 1;
    if (++moment->month > 12) {
        moment->month = 1;
        moment->year++;
    }
}

void moment_next_day(struct moment *moment) {
    moment->minute = 0;
    moment->hour = 0;
    if (++moment->day > moment_days_in_month(moment->year, moment->month))
        moment_next_month(moment);
}

void moment_next_hour(struct moment *moment) {
    moment->minute = 0;
    if (++moment->hour > 23)
        moment_next_day(moment);
}

void moment_next_minute(struct moment *moment) {
    if (++moment->minute > 59)
        moment_next_hour(moment);
}

long moment_between(const struct moment *a, const struct moment *b) {
    long days = day_number(b->year, b->month, b->day) - day_number(a->year, a->month, a->day);
    return (days * 24 + b->hour - a->hour) * 60 + b->minute - a->minute;
}

int moment_parse(struct moment *moment, const char *text) {
    int end = 0;
    int count = sscanf(text, "%4d-%2d-%2dT%2d:%2d%n", &moment->year, &moment->month, &moment->day,
                       &moment->hour, &moment->minute, &end);
    if (count != 5 || text[end] != '\0')
        return 0;
    if (moment->year < 1 || moment->month < 1 || moment->month > 12)
        return 0;
    if (moment->day < 1 || moment->day > moment_days_in_month(moment->year, moment->month))
        return 0;
    return moment->hour >= 0 && moment->hour < 24 && moment->minute >= 0 && moment->minute < 60;
}

void moment_print(const struct moment *moment) {
    static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    printf("%s %04d-%02d-%02d %02d:%02d", names[moment_weekday(moment)], moment->year, moment->month,
           moment->day, moment->hour, moment->minute);
}
