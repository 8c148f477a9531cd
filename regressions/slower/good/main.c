#include "tasks.h"

#include <stdlib.h>
#include <string.h>

/* A build of many steps, as large as is asked for. */
static void generate(struct graph *graph, int size) {
    char line[128];
    for (int i = 0; i < size; i++) {
        snprintf(line, sizeof line, "object-%d(%d): source-%d common-%d configure", i, i % 7 + 1, i,
                 i % 50);
        graph_line(graph, line);
        snprintf(line, sizeof line, "library-%d: object-%d", i / 100, i);
        graph_line(graph, line);
        snprintf(line, sizeof line, "image: object-%d", i);
        graph_line(graph, line);
    }
}

static int read_file(struct graph *graph, const char *path) {
    char line[1024];
    FILE *file = fopen(path, "r");
    int number = 0;
    if (file == NULL) {
        perror(path);
        return 0;
    }
    while (fgets(line, sizeof line, file)) {
        number++;
        if (!graph_line(graph, line)) {
            fprintf(stderr, "%s:%d: not a task\n", path, number);
            fclose(file);
            return 0;
        }
    }
    fclose(file);
    return 1;
}

int main(int argc, char **argv) {
    struct graph graph;
    struct order order;
    int fine, show = 0;
    memset(&graph, 0, sizeof graph);
    if (argc == 3 && strcmp(argv[1], "-g") == 0) {
        generate(&graph, atoi(argv[2]));
    } else if (argc == 2) {
        show = 1;
        if (!read_file(&graph, argv[1]))
            return 1;
    } else {
        fprintf(stderr, "usage: tasks FILE | tasks -g SIZE\n");
        return 2;
    }
    fine = order_find(&graph, &order);
    for (int i = 0; show && i < order.count; i++)
        printf("%s\n", graph.symbols.names[order.tasks[i]]);
    printf("%d tasks, %ld needs, %d levels, cost %ld\n", order.count, graph.edges, order.levels, order.cost);
    if (!fine)
        printf("some tasks need each other\n");
    order_free(&order);
    graph_free(&graph);
    return !fine;
}
