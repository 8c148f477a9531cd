#include "schedule.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct field {
    const char *what;
    int low;
    int high;
    const char *const *names;
};

static const char *const month_names[] = {
    "jan", "feb", "mar", "apr", "may", "jun",
    "jul", "aug", "sep", "oct", "nov", "dec", NULL,
};

static const char *const weekday_names[] = {
    "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL,
};

static const struct field fields[] = {
    {"minute", 0, 59, NULL},
    {"hour", 0, 23, NULL},
    {"day", 1, 31, NULL},
    {"month", 1, 12, month_names},
    {"weekday", 0, 7, weekday_names},
};

int schedule_has(uint64_t mask, int value) {
    return (mask >> value) & 1;
}

static const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* A number, or one of the names of the field. */
static const char *value(const char *p, const struct field *field, int *result) {
    if (isdigit((unsigned char)*p)) {
        int n = 0;
        while (isdigit((unsigned char)*p)) {
            n = n * 10 + (*p++ - '0');
            if (n > 1000)
                return NULL;
        }
        *result = n;
        return p;
    }
    if (field->names == NULL)
        return NULL;
    for (int i = 0; field->names[i]; i++) {
        size_t length = strlen(field->names[i]);
        if (strncasecmp(p, field->names[i], length) == 0) {
            *result = field->low + i;
            return p + length;
        }
    }
    return NULL;
}

/* One item of a list: `*`, `a`, `a-b`, each perhaps with `/step`. */
static const char *item(const char *p, const struct field *field, uint64_t *mask, const char **problem) {
    int from, to, step = 1;
    if (*p == '*') {
        from = field->low;
        to = field->high;
        p++;
    } else {
        p = value(p, field, &from);
        if (p == NULL) {
            *problem = "not a value";
            return NULL;
        }
        to = from;
        if (*p == '-') {
            p = value(p + 1, field, &to);
            if (p == NULL) {
                *problem = "a range without an end";
                return NULL;
            }
        }
    }
    if (*p == '/') {
        p++;
        step = 0;
        while (isdigit((unsigned char)*p) && step < 1000)
            step = step * 10 + (*p++ - '0');
        if (step == 0) {
            *problem = "a step of nothing";
            return NULL;
        }
    }
    if (from < field->low || to > field->high || from > to) {
        *problem = "out of range";
        return NULL;
    }
    for (int v = from; v <= to; v += step)
        *mask |= (uint64_t)1 << v;
    return p;
}

static const char *list(const char *p, const struct field *field, uint64_t *mask, const char **problem) {
    *mask = 0;
    for (;;) {
        p = item(p, field, mask, problem);
        if (p == NULL)
            return NULL;
        if (*p != ',')
            return p;
        p++;
    }
}

int schedule_parse(struct schedule *schedule, const char *text, const char **problem) {
    uint64_t *masks[] = {
        &schedule->minutes, &schedule->hours, &schedule->days, &schedule->months, &schedule->weekdays,
    };
    const char *p = text;
    memset(schedule, 0, sizeof *schedule);
    for (int i = 0; i < 5; i++) {
        p = skip_blanks(p);
        if (*p == '\0') {
            *problem = "too few fields";
            return 0;
        }
        if (i == 2)
            schedule->any_day = *p == '*';
        if (i == 4)
            schedule->any_weekday = *p == '*';
        p = list(p, &fields[i], masks[i], problem);
        if (p == NULL)
            return 0;
        if (*p != '\0' && *p != ' ' && *p != '\t') {
            *problem = "unexpected character";
            return 0;
        }
    }
    if (*skip_blanks(p) != '\0') {
        *problem = "too many fields";
        return 0;
    }
    /* Both 0 and 7 are Sunday. */
    if (schedule_has(schedule->weekdays, 7))
        schedule->weekdays |= 1;
    return 1;
}
