#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "journal.h"
#include "perform.h"
#include "queue.h"

static struct queue queue;
static struct house house;
static struct journal journal;

/* `at SECONDS ACTION ARGUMENT LABEL [every SECONDS] [priority N]` */
static int add(char *arguments) {
    char action[16], label[24], word[16];
    long due, value;
    int argument, used, kind;
    struct event *e;
    if (sscanf(arguments, "%ld %15s %d %23s%n", &due, action, &argument, label, &used) != 4)
        return 0;
    kind = action_named(action);
    if (kind < 0)
        return 0;
    e = event_new(strcmp(label, "-") == 0 ? "" : label, (enum action)kind, due);
    e->argument = argument;
    for (arguments += used; sscanf(arguments, "%15s %ld%n", word, &value, &used) == 2; arguments += used) {
        if (strcmp(word, "every") == 0)
            e->period = value;
        else if (strcmp(word, "priority") == 0)
            e->priority = (int)value;
    }
    queue_add(&queue, e);
    return 1;
}

static int cancel(char *arguments) {
    struct event *e;
    arguments[strcspn(arguments, " \n")] = '\0';
    e = queue_find(&queue, arguments);
    if (!e)
        return 0;
    queue_remove(&queue, e);
    event_free(e);
    return 1;
}

static void run(long until) {
    struct event *e;
    int performed = 0;
    while ((e = queue_first(&queue)) != NULL && e->due <= until && !house.stopped) {
        queue_remove(&queue, e);
        perform(&house, &queue, e);
        performed++;
        journal_note(&journal, e);
        if (performed >= 10000)
            house.stopped = 1;
        event_free(e);
    }
    printf("lamp %d, valve %d, rings %d, left %d\n", house.lamp, house.valve, house.rings, queue.count);
}

int main(int argc, char **argv) {
    char line[256];
    int wrong = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    queue_init(&queue);
    house_init(&house, argc > 2 ? atol(argv[2]) : 1);
    journal_open(&journal, stdout);
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '\n' || line[0] == '#')
            continue;
        if (strncmp(line, "at ", 3) == 0)
            wrong += !add(line + 3);
        else if (strncmp(line, "cancel ", 7) == 0)
            wrong += !cancel(line + 7);
        else if (strncmp(line, "run ", 4) == 0)
            run(atol(line + 4));
        else
            wrong++;
    }
    queue_free(&queue);
    if (in != stdin)
        fclose(in);
    return wrong ? 1 : 0;
}
