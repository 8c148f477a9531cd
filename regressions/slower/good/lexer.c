#include "tasks.h"

#include <ctype.h>
#include <stdlib.h>

static const char *skip(const char *p) {
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static const char *name_end(const char *p) {
    while (isalnum((unsigned char)*p) || *p == '_' || *p == '-' || *p == '.')
        p++;
    return p;
}

static int name(struct graph *graph, const char **at) {
    const char *end = name_end(*at);
    int number;
    if (end == *at)
        return -1;
    number = symbols_intern(&graph->symbols, *at, (size_t)(end - *at));
    graph_task(graph, number);
    *at = end;
    return number;
}

int graph_line(struct graph *graph, const char *line) {
    int task, needed, cost = 1;
    const char *p = skip(line);
    if (*p == '\0' || *p == '\n' || *p == '#')
        return 1;
    task = name(graph, &p);
    if (task < 0)
        return 0;
    if (*p == '(') {
        cost = atoi(++p);
        while (isdigit((unsigned char)*p))
            p++;
        if (*p++ != ')')
            return 0;
    }
    p = skip(p);
    if (*p++ != ':')
        return 0;
    graph_task(graph, task)->declared = 1;
    graph_task(graph, task)->cost = cost;
    for (p = skip(p); *p && *p != '\n'; p = skip(p)) {
        needed = name(graph, &p);
        if (needed < 0)
            return 0;
        graph_need(graph, task, needed);
    }
    return 1;
}
