#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sections that are open, innermost first. */
struct scope {
    const struct data *data;
    const struct scope *outer;
};

static void escape(struct text *output, const char *string) {
    for (; *string; string++) {
        switch (*string) {
        case '&':
            text_add_string(output, "&amp;");
            break;
        case '<':
            text_add_string(output, "&lt;");
            break;
        case '>':
            text_add_string(output, "&gt;");
            break;
        default:
            text_add(output, string, 1);
        }
    }
}

/* `level` tells how many sections further out it was found. */
static const struct data *in_scope(const struct scope *scope, const char *name, int *level) {
    int hops = 0;
    for (; scope; scope = scope->outer) {
        const struct data *found = data_member(scope->data, name);
        if (found) {
            *level = hops;
            return found;
        }
        hops++;
    }
    return NULL;
}

/* `a.b.c`: members of what the first name is; `.` is the innermost item itself. */
static const struct data *lookup(struct node *node, const struct scope *scope) {
    const char *name = node->text, *dot = strchr(name, '.');
    const struct data *found;
    char *part;
    if (strcmp(name, ".") == 0)
        return scope->data;
    if (dot == NULL)
        return in_scope(scope, name, &node->level);
    part = copy_string(name, (size_t)(dot - name));
    found = in_scope(scope, part, &node->level);
    free(part);
    while (found && dot) {
        const char *start = dot + 1;
        dot = strchr(start, '.');
        part = copy_string(start, dot ? (size_t)(dot - start) : strlen(start));
        found = data_member(found, part);
        free(part);
    }
    return found;
}

static void render_in(struct node *node, const struct scope *scope, struct text *output);

static void section(struct node *node, const struct data *data, const struct scope *scope,
                    struct text *output) {
    struct scope inner = {data, scope};
    if (!data_is_true(data))
        return;
    if (data->kind != DATA_LIST) {
        render_in(node->children, &inner, output);
        return;
    }
    for (int i = 0; i < data->count; i++) {
        inner.data = data->items[i];
        render_in(node->children, &inner, output);
    }
}

static void render_in(struct node *node, const struct scope *scope, struct text *output) {
    for (; node; node = node->next) {
        const struct data *data = NULL;
        if (node->kind == NODE_TEXT) {
            text_add_string(output, node->text);
            continue;
        }
        data = lookup(node, scope);
        switch (node->kind) {
        case NODE_VALUE:
            if (data && data->kind == DATA_STRING)
                escape(output, data->string);
            break;
        case NODE_RAW:
            if (data && data->kind == DATA_STRING)
                text_add_string(output, data->string);
            break;
        case NODE_SECTION:
            section(node, data, scope, output);
            break;
        case NODE_UNLESS:
            if (!data_is_true(data))
                render_in(node->children, scope, output);
            break;
        default:
            break;
        }
    }
}

void render(struct node *node, const struct data *data, struct text *output) {
    struct scope scope = {data, NULL};
    render_in(node, &scope, output);
}
