/* Kahn's algorithm: what misses nothing is done, and those that need it miss one less. */
#include "tasks.h"

#include <stdlib.h>

struct queue {
    int *items;
    int head;
    int tail;
};

static void put(struct queue *queue, int item) {
    queue->items[queue->tail++] = item;
}

static int take(struct queue *queue) {
    return queue->items[queue->head++];
}

int order_find(struct graph *graph, struct order *order) {
    int count = graph->symbols.count;
    struct queue queue = {malloc((size_t)count * sizeof(int) + 1), 0, 0};
    long *finish = calloc((size_t)count + 1, sizeof *finish);
    int *level = calloc((size_t)count + 1, sizeof *level);
    order->tasks = malloc((size_t)count * sizeof(int) + 1);
    order->count = order->levels = 0;
    order->cost = 0;
    for (int i = 0; i < count; i++)
        if (graph_task(graph, i)->missing == 0)
            put(&queue, i);
    while (queue.head < queue.tail) {
        int number = take(&queue);
        struct task *task = graph_task(graph, number);
        finish[number] += task->cost;
        order->tasks[order->count++] = number;
        if (finish[number] > order->cost)
            order->cost = finish[number];
        if (level[number] + 1 > order->levels)
            order->levels = level[number] + 1;
        for (struct edge *edge = task->needed_by; edge; edge = edge->next) {
            if (finish[number] > finish[edge->to])
                finish[edge->to] = finish[number];
            if (level[number] + 1 > level[edge->to])
                level[edge->to] = level[number] + 1;
            if (--graph_task(graph, edge->to)->missing == 0)
                put(&queue, edge->to);
        }
    }
    free(queue.items);
    free(finish);
    free(level);
    return order->count == count;
}

void order_free(struct order *order) {
    free(order->tasks);
}
