#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "expire.h"
#include "listing.h"

void session_open(struct session *s, FILE *out) {
    table_init(&s->table);
    s->now = 0;
    s->out = out;
}

void session_close(struct session *s) {
    table_free(&s->table);
}

static void answer(struct session *s, int done, const char *otherwise) {
    fprintf(s->out, "%s\n", done ? "ok" : otherwise);
}

static void get(struct session *s, const char *key) {
    int slot = table_find(&s->table, key);
    if (slot == NONE) {
        fprintf(s->out, "none\n");
        return;
    }
    s->table.pool[slot].reads++;
    fprintf(s->out, "%s\n", s->table.pool[slot].value);
}

static void pass_time(struct session *s, long time) {
    int gone;
    s->now += time;
    gone = expire_sweep(&s->table, s->now);
    if (gone)
        fprintf(s->out, "%d expired\n", gone);
}

int session_obey(struct session *s, char *line) {
    const char *command = strtok(line, " \n");
    const char *first = strtok(NULL, " \n");
    const char *second = strtok(NULL, "\n");
    if (!command || command[0] == '#')
        return 1;
    if (strcmp(command, "list") == 0) {
        listing_print(&s->table, s->out);
    } else if (strcmp(command, "statistics") == 0) {
        listing_statistics(&s->table, s->out);
    } else if (!first) {
        return 0;
    } else if (strcmp(command, "get") == 0) {
        get(s, first);
    } else if (strcmp(command, "delete") == 0) {
        answer(s, table_delete(&s->table, first), "none");
    } else if (strcmp(command, "left") == 0) {
        fprintf(s->out, "%ld\n", expire_left(&s->table, first, s->now));
    } else if (strcmp(command, "pass") == 0) {
        pass_time(s, atol(first));
    } else if (!second) {
        return 0;
    } else if (strcmp(command, "set") == 0) {
        answer(s, table_set(&s->table, first, second), "full");
    } else if (strcmp(command, "expire") == 0) {
        answer(s, expire_after(&s->table, first, s->now, atol(second)), "none");
    } else {
        return 0;
    }
    return 1;
}
