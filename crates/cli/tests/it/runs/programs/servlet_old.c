// A request processor. Documents of type text/html have their characters outside
// of a range written as numeric entities.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entity_util {
    int min_char;
    int max_char;
};

struct processor {
    const char *type;
    struct entity_util *util;
    int requests;
};

struct journal {
    int messages;
    const char *last;
};

static struct journal journal;

static void log_message(struct journal *j, const char *text) {
    j->messages++;
    j->last = text;
}

static struct entity_util *entity_util_new(int min, int max) {
    struct entity_util *u = malloc(sizeof *u);
    u->min_char = min;
    u->max_char = max;
    return u;
}

static void escape(const struct entity_util *u, const char *from, char *to) {
    for (; *from; from++) {
        if (*from < u->min_char || *from > u->max_char)
            to += sprintf(to, "&#%d;", *from);
        else
            *to++ = *from;
    }
    *to = 0;
}

static void set_request_type(struct processor *p, const char *type) {
    p->type = type;
    if (strcmp(type, "text/html") == 0)
        p->util = entity_util_new(32, 127);
    log_message(&journal, "type is set");
}

static void process_request(struct processor *p, const char *document) {
    char out[200];
    p->requests++;
    if (p->util)
        escape(p->util, document, out);
    else
        strcpy(out, document);
    puts(out);
}

int main(int argc, char **argv) {
    struct processor *p = calloc(1, sizeof *p);
    set_request_type(p, argv[1]);
    process_request(p, argv[2]);
    log_message(&journal, "done");
    return argc == 3 ? 0 : 1;
}
