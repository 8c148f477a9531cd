#include "journal.h"

void journal_open(struct journal *j, FILE *out) {
    j->out = out;
    j->lines = 0;
    j->quiet = 0;
}

static void clock_time(long due, char *text, size_t room) {
    snprintf(text, room, "%02ld:%02ld:%02ld", due / 3600, due / 60 % 60, due % 60);
}

void journal_note(struct journal *j, const struct event *e) {
    char when[32];
    if (j->quiet && e->label[0] == '\0')
        return;
    clock_time(e->due, when, sizeof when);
    fprintf(j->out, "%s %s", when, action_name(e->action));
    if (e->argument)
        fprintf(j->out, " %d", e->argument);
    if (e->label[0])
        fprintf(j->out, " (%s)", e->label);
    fprintf(j->out, "\n");
    j->lines++;
}
