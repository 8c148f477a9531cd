#include "board.h"

#include <string.h>

void board_init(struct board *b, int window) {
    memset(b, 0, sizeof *b);
    b->window = window;
}

static struct channel *find(struct board *b, const char *name) {
    struct channel *c;
    int i;
    for (i = 0; i < b->count; i++)
        if (strcmp(b->channels[i].name, name) == 0)
            return &b->channels[i];
    if (b->count == MAX_CHANNELS)
        return NULL;
    c = &b->channels[b->count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    meter_init(&c->meter, b->window);
    return c;
}

static int read_line(struct board *b, const char *line) {
    char name[16], level[16];
    struct channel *c;
    fixed value;
    if (sscanf(line, "%15s %15s", name, level) != 2 || !fixed_parse(level, &value))
        return 0;
    c = find(b, name);
    if (!c)
        return 0;
    meter_add(&c->meter, value);
    return 1;
}

void board_read(struct board *b, FILE *in) {
    char line[128];
    int i;
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (!read_line(b, line))
            b->problems++;
    }
    for (i = 0; i < b->count; i++)
        meter_finish(&b->channels[i].meter);
}
