/* Runs tasks in turns on one imaginary processor. A line of the list of tasks has a
 * name, how many turns it needs, and the first turn in which it may run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TASKS 32
#define MAX_TURNS 100

struct task {
    char name[16];
    int left;
    int wake;
    int started;
    int ended;
};

static struct task tasks[MAX_TASKS];
static int count;
static int now;

static void report(void) {
    for (int i = 0; i < count; i++)
        printf("%-8s %3d to %3d\n", tasks[i].name, tasks[i].started, tasks[i].ended);
}

static void load(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while (count < MAX_TASKS) {
        struct task *task = &tasks[count];
        if (fscanf(file, "%15s %d %d", task->name, &task->left, &task->wake) != 3)
            break;
        task->started = -1;
        task->ended = -1;
        count++;
    }
    fclose(file);
}

static int ready(const struct task *task);

static int unfinished(void) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += tasks[i].left > 0;
    return sum;
}

static struct task *next_task(int *last) {
    for (int i = 1; i <= count; i++) {
        int at = (*last + i) % count;
        if (!ready(&tasks[at]))
            continue;
        *last = at;
        return &tasks[at];
    }
    return NULL;
}

static int ready(const struct task *task) {
    return task->left > 0;
}

static void check(const struct task *task) {
    if (task->started < task->wake) {
        fprintf(stderr, "%s ran before its time\n", task->name);
        abort();
    }
}

static void turn(struct task *task) {
    if (task->started < 0) {
        task->started = now;
        check(task);
    }
    task->left--;
    if (task->left == 0)
        task->ended = now;
}

int main(int argc, char **argv) {
    int last;
    int idle = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: sched LIST\n");
        return 2;
    }
    load(argv[1]);
    if (count == 0)
        return 0;
    last = count - 1;
    while (unfinished() > 0 && now < MAX_TURNS) {
        struct task *task = next_task(&last);
        if (task)
            turn(task);
        else
            idle++;
        now++;
    }
    report();
    printf("%d turns, %d idle\n", now, idle);
    return 0;
}
