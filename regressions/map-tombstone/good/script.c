/* Runs a script of operations on a table: `set 2 20`, `remove 2`, `has 2`, `count`. */
#include "heap.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(struct heap *heap, const char *bytes)
{
    struct text *text = heap_text(heap, bytes, strlen(bytes));
    fputs(text->bytes, stdout);
    fputc('\n', stdout);
}

static void say(struct heap *heap, int truth)
{
    if (truth)
        print(heap, "true");
    else
        print(heap, "false");
}

static int number(const char *word)
{
    return word ? atoi(word) : 0;
}

int main(int argc, char **argv)
{
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        fprintf(stderr, "script: cannot read %s\n", argv[1]);
        return 2;
    }
    struct heap heap = { .next_collection = 4096 };
    struct table table = { 0 };
    char line[128];
    while (fgets(line, sizeof line, in)) {
        char *word = strtok(line, " \n");
        if (!word)
            continue;
        if (strcmp(word, "set") == 0) {
            int key = number(strtok(NULL, " \n"));
            table_set(&table, &heap, key, number(strtok(NULL, " \n")));
        } else if (strcmp(word, "remove") == 0) {
            table_remove(&table, &heap, number(strtok(NULL, " \n")));
        } else if (strcmp(word, "has") == 0) {
            say(&heap, table_has(&table, number(strtok(NULL, " \n"))));
        } else if (strcmp(word, "count") == 0) {
            char digits[16];
            snprintf(digits, sizeof digits, "%u", table.count);
            print(&heap, digits);
        }
    }
    table_clear(&table, &heap);
    heap_free(&heap);
    return 0;
}
