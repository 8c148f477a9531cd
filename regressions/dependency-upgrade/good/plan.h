/* A plan of the jobs of a day. */
#ifndef PLAN_H
#define PLAN_H

#include <stdio.h>

enum { MOST_JOBS = 32, MOST_RUNS = 512, DAY = 24 * 60 };

struct job {
    char name[32];
    char command[96];
    int start;    /* minutes since midnight */
    int every;    /* minutes, 0: once */
    int until;
    int priority; /* the higher comes first */
};

struct run {
    int at;
    const struct job *job;
};

struct plan {
    struct job jobs[MOST_JOBS];
    int count;
    struct run runs[MOST_RUNS];
    int runs_count;
};

int parse_time(const char *text);
void format_time(int minutes, char *text, size_t size);

/* Returns 0, or the number of the line that is wrong. */
int plan_load(struct plan *plan, FILE *in);
void plan_make(struct plan *plan);
void plan_print(const struct plan *plan, int from, int to);

#endif
