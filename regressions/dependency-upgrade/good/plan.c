#include "plan.h"

#include "ini.h"

#include <stdlib.h>
#include <string.h>

static int load_job(struct job *job, const ini *doc, int section) {
    snprintf(job->name, sizeof job->name, "%s", ini_section_name(doc, section));
    snprintf(job->command, sizeof job->command, "%s", ini_get(doc, section, "command", ""));
    job->start = parse_time(ini_get(doc, section, "start", "0:00"));
    job->until = parse_time(ini_get(doc, section, "until", "23:59"));
    job->every = (int)ini_get_int(doc, section, "every", 0);
    job->priority = (int)ini_get_int(doc, section, "priority", 0);
    return job->start >= 0 && job->until >= 0 && job->every >= 0;
}

int plan_load(struct plan *plan, FILE *in) {
    ini *doc = ini_read(in);
    int error = 0;

    if (doc == NULL)
        return 1;
    error = ini_error(doc);
    for (int i = 0; i < ini_sections(doc) && plan->count < MOST_JOBS; i++) {
        struct job *job = &plan->jobs[plan->count];
        if (load_job(job, doc, i))
            plan->count++;
        else
            fprintf(stderr, "planner: %s is left out\n", job->name);
    }
    ini_free(doc);
    return error;
}

static int compare(const void *a, const void *b) {
    const struct run *first = a, *second = b;
    if (first->at != second->at)
        return first->at < second->at ? -1 : 1;
    if (first->job->priority != second->job->priority)
        return first->job->priority > second->job->priority ? -1 : 1;
    return strcmp(first->job->name, second->job->name);
}

static void add_run(struct plan *plan, int at, const struct job *job) {
    if (plan->runs_count == MOST_RUNS)
        return;
    plan->runs[plan->runs_count].at = at;
    plan->runs[plan->runs_count].job = job;
    plan->runs_count++;
}

void plan_make(struct plan *plan) {
    plan->runs_count = 0;
    for (int i = 0; i < plan->count; i++) {
        const struct job *job = &plan->jobs[i];
        int at = job->start;
        do {
            add_run(plan, at, job);
            at += job->every;
        } while (job->every > 0 && at <= job->until && at < DAY);
    }
    qsort(plan->runs, (size_t)plan->runs_count, sizeof *plan->runs, compare);
}

void plan_print(const struct plan *plan, int from, int to) {
    char time[16];
    for (int i = 0; i < plan->runs_count; i++) {
        const struct run *run = &plan->runs[i];
        if (run->at < from || run->at > to)
            continue;
        format_time(run->at, time, sizeof time);
        printf("%s %-8s %s\n", time, run->job->name, run->job->command);
    }
}
