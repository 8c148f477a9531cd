#include "tasks.h"

#include <stdlib.h>
#include <string.h>

struct task *graph_task(struct graph *graph, int number) {
    if (number >= graph->room) {
        int room = graph->room ? graph->room : 32;
        while (room <= number)
            room *= 2;
        graph->tasks = realloc(graph->tasks, (size_t)room * sizeof *graph->tasks);
        memset(graph->tasks + graph->room, 0, (size_t)(room - graph->room) * sizeof *graph->tasks);
        graph->room = room;
    }
    return &graph->tasks[number];
}

void graph_need(struct graph *graph, int task, int needed) {
    struct task *from = graph_task(graph, needed);
    struct edge *edge;
    edge = malloc(sizeof *edge);
    edge->to = task;
    edge->next = NULL;
    if (from->last)
        from->last->next = edge;
    else
        from->needed_by = edge;
    from->last = edge;
    graph_task(graph, task)->missing++;
    graph->edges++;
}

void graph_free(struct graph *graph) {
    for (int i = 0; i < graph->symbols.count; i++) {
        struct edge *edge = graph_task(graph, i)->needed_by;
        while (edge) {
            struct edge *next = edge->next;
            free(edge);
            edge = next;
        }
    }
    symbols_free(&graph->symbols);
    free(graph->tasks);
}
