// The same, with the conversion moved into a filter of its own, one of a chain. The
// lower end of the range is wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entity_util {
    int min_char;
    int max_char;
};

struct filter {
    struct entity_util *util;
    struct filter *next;
};

struct chain {
    struct filter *first;
    int length;
};

struct processor {
    const char *type;
    struct chain *chain;
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

static struct chain *chain_new(void) {
    return calloc(1, sizeof(struct chain));
}

static void chain_add(struct chain *c, struct filter *f) {
    f->next = c->first;
    c->first = f;
    c->length++;
}

static struct filter *binary_char_filter(void) {
    struct filter *f = calloc(1, sizeof *f);
    f->util = entity_util_new(1, 127);
    return f;
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

static void chain_run(const struct chain *c, const char *document, char *out) {
    strcpy(out, document);
    for (struct filter *f = c->first; f; f = f->next)
        escape(f->util, document, out);
}

static void set_request_type(struct processor *p, const char *type) {
    p->type = type;
    p->chain = chain_new();
    log_message(&journal, "request type is set");
    if (strcmp(type, "text/html") == 0)
        chain_add(p->chain, binary_char_filter());
}

static void process_request(struct processor *p, const char *document) {
    char out[200];
    p->requests++;
    chain_run(p->chain, document, out);
    puts(out);
}

int main(int argc, char **argv) {
    struct processor *p = calloc(1, sizeof *p);
    set_request_type(p, argv[1]);
    process_request(p, argv[2]);
    log_message(&journal, "done");
    return argc == 3 ? 0 : 1;
}
