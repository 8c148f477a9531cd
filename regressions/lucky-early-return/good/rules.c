#include "rules.h"

#include <stdlib.h>
#include <string.h>

int rules_find(const struct rules *r, const char *name) {
    int i;
    for (i = 0; i < r->count; i++)
        if (strcmp(r->targets[i].name, name) == 0)
            return i;
    return -1;
}

static void complain(struct rules *r, const char *what, const char *name) {
    fprintf(stderr, "rebuild: %s: %s\n", what, name);
    r->problems++;
}

static int find_or_add(struct rules *r, const char *name) {
    int found = rules_find(r, name);
    struct target *t;
    if (found >= 0)
        return found;
    if (r->count == MAX_TARGETS) {
        complain(r, "too many targets", name);
        return -1;
    }
    if (strlen(name) >= NAME_ROOM) {
        complain(r, "name too long", name);
        return -1;
    }
    t = &r->targets[r->count];
    memset(t, 0, sizeof *t);
    strcpy(t->name, name);
    t->is_source = 1;
    return r->count++;
}

static void read_needs(struct rules *r, int target, char *text) {
    struct target *t = &r->targets[target];
    char *word;
    t->is_source = 0;
    for (word = strtok(text, " \t"); word; word = strtok(NULL, " \t")) {
        int need;
        if (t->need_count == MAX_NEEDS) {
            complain(r, "needs too much", t->name);
            return;
        }
        need = find_or_add(r, word);
        if (need >= 0)
            t->needs[t->need_count++] = need;
    }
}

void rules_read(struct rules *r, FILE *in) {
    char line[256];
    r->count = 0;
    r->problems = 0;
    while (fgets(line, sizeof line, in)) {
        char name[64];
        long stamp;
        char *colon;
        int target;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        colon = strchr(line, ':');
        if (colon)
            *colon++ = '\0';
        if (sscanf(line, "%63s %ld", name, &stamp) != 2) {
            complain(r, "not a rule", line);
            continue;
        }
        target = find_or_add(r, name);
        if (target < 0)
            continue;
        r->targets[target].stamp = stamp;
        if (colon)
            read_needs(r, target, colon);
    }
}
