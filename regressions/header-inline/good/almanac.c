/* Lists days around the first one, with weekday, season and week. */
#include <stdio.h>
#include <stdlib.h>

#include "calendar.h"
#include "season.h"

static void print_day(long day) {
    printf("%5ld %s week %3ld %s\n", day, weekday(day), floor_div(day + 3, DAYS_OF_WEEK), season(day));
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 3;
    for (long i = count; i > 0; i--)
        print_day(i * 30);
    for (long i = 0; i < count; i++)
        print_day(-i * 30);
    return 0;
}
