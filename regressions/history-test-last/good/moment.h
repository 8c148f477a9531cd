/* Minutes of the civil calendar, without time zones. */
#ifndef MOMENT_H
#define MOMENT_H

struct moment {
    int year;
    int month;  /* 1 to 12 */
    int day;    /* 1 to 31 */
    int hour;
    int minute;
};

int moment_leap_year(int year);
int moment_days_in_month(int year, int month);

/* 0 is Sunday. */
int moment_weekday(const struct moment *moment);

/* The first minute of what comes next. */
void moment_next_month(struct moment *moment);
void moment_next_day(struct moment *moment);
void moment_next_hour(struct moment *moment);
void moment_next_minute(struct moment *moment);

/* Minutes from `a` to `b`. */
long moment_between(const struct moment *a, const struct moment *b);

/* `2025-02-28T16:50`. Returns 0 if it is not a moment. */
int moment_parse(struct moment *moment, const char *text);
void moment_print(const struct moment *moment);

#endif
