#include "template.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct parser {
    const char *at;
    const char *problem;
};

static struct node *make(enum node_kind kind, const char *from, const char *to) {
    struct node *node = calloc(1, sizeof *node);
    node->kind = kind;
    node->text = copy_string(from, (size_t)(to - from));
    return node;
}

static void trim(const char **from, const char **to) {
    while (*from < *to && isspace((unsigned char)**from))
        (*from)++;
    while (*to > *from && isspace((unsigned char)(*to)[-1]))
        (*to)--;
}

/* Sections and comments that have a line to themselves take the line break with them. */
static const char *after_tag(const char *source, const char *tag, const char *end) {
    const char *before = tag, *after = end;
    while (before > source && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    if (before > source && before[-1] != '\n')
        return end;
    while (*after == ' ' || *after == '\t')
        after++;
    if (*after == '\n')
        return after + 1;
    return end;
}

static struct node *nodes(struct parser *parser, const char *source, const char *section) {
    struct node *first = NULL, **last = &first;
    for (;;) {
        const char *open = strstr(parser->at, "{{");
        const char *from, *to, *end;
        char sign;
        if (open == NULL)
            open = parser->at + strlen(parser->at);
        if (open > parser->at) {
            *last = make(NODE_TEXT, parser->at, open);
            last = &(*last)->next;
        }
        if (*open == '\0') {
            if (section)
                parser->problem = "a section is not closed";
            parser->at = open;
            return first;
        }
        sign = open[2];
        from = open + (strchr("{#^/!&", sign) ? 3 : 2);
        to = strstr(from, sign == '{' ? "}}}" : "}}");
        if (to == NULL) {
            parser->problem = "a tag is not closed";
            return first;
        }
        end = to + (sign == '{' ? 3 : 2);
        trim(&from, &to);
        if (strchr("#^/!", sign))
            end = after_tag(source, open, end);
        parser->at = end;
        if (sign == '!')
            continue;
        if (sign == '/') {
            if (section == NULL || strlen(section) != (size_t)(to - from) ||
                strncmp(section, from, (size_t)(to - from)) != 0)
                parser->problem = "a section is closed that is not open";
            return first;
        }
        *last = make(sign == '#'   ? NODE_SECTION
                     : sign == '^' ? NODE_UNLESS
                     : sign == '{' || sign == '&' ? NODE_RAW
                                                  : NODE_VALUE,
                     from, to);
        if (sign == '#' || sign == '^')
            (*last)->children = nodes(parser, source, (*last)->text);
        last = &(*last)->next;
        if (parser->problem)
            return first;
    }
}

struct node *template_parse(const char *source, const char **problem) {
    struct parser parser = {source, NULL};
    struct node *node = nodes(&parser, source, NULL);
    *problem = parser.problem;
    if (parser.problem) {
        template_free(node);
        return NULL;
    }
    return node;
}

void template_free(struct node *node) {
    while (node) {
        struct node *next = node->next;
        template_free(node->children);
        free(node->text);
        free(node);
        node = next;
    }
}
