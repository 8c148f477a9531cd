/* Orders tasks so that each comes after those it needs. */
#ifndef TASKS_H
#define TASKS_H

#include <stddef.h>
#include <stdio.h>

/* ---- symbols.c: names as numbers, from 0 */

struct symbols {
    char **names;     /* by number */
    int count;
    int names_room;
    int *slots;       /* an open hash table of numbers, -1 if free */
    int slot_count;
};

int symbols_intern(struct symbols *symbols, const char *name, size_t length);
void symbols_free(struct symbols *symbols);

/* ---- graph.c */

struct edge {
    int to;
    struct edge *next;
};

struct task {
    struct edge *needed_by;
    struct edge *last;
    int missing; /* needed tasks that are not done */
    int declared;
    int cost;
};

struct graph {
    struct symbols symbols;
    struct task *tasks;
    int room;
    long edges;
};

struct task *graph_task(struct graph *graph, int number);
/* `task` needs `needed`. */
void graph_need(struct graph *graph, int task, int needed);
void graph_free(struct graph *graph);

/* ---- lexer.c: lines such as `link(3): compile headers` */

int graph_line(struct graph *graph, const char *line);

/* ---- order.c */

struct order {
    int *tasks;
    int count;
    int levels;
    long cost; /* of the most expensive way through */
};

/* 0 if tasks need each other in a circle. */
int order_find(struct graph *graph, struct order *order);
void order_free(struct order *order);

#endif
