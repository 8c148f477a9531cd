/* Templates as trees: `{{name}}`, `{{{name}}}`, `{{#section}}`, `{{^unless}}`, `{{/end}}`. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

enum node_kind { NODE_TEXT, NODE_VALUE, NODE_RAW, NODE_SECTION, NODE_UNLESS };

struct node {
    enum node_kind kind;
    char *text; /* what to copy, or the name */
    int level;  /* how far out the name was found last */
    struct node *children;
    struct node *next;
};

/* NULL and a message if tags do not match. */
struct node *template_parse(const char *source, const char **problem);
void template_free(struct node *node);

#endif
