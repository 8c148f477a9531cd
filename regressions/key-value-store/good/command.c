#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b) {
    const struct slot *const *left = a;
    const struct slot *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

static void list(const struct table *table) {
    const struct slot **sorted = malloc((table->live + 1) * sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i].state == LIVE)
            sorted[n++] = &table->slots[i];
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 0; i < n; i++)
        printf("  %s = %ld\n", sorted[i]->key, sorted[i]->value);
    free(sorted);
}

static void get(struct table *table, const char *key) {
    struct slot *slot = table_find(table, key);
    if (slot)
        printf("%s is %ld\n", key, slot->value);
    else
        printf("%s is not set\n", key);
}

int command(struct table *table, char *line) {
    char *verb = strtok(line, " \n");
    char *key = strtok(NULL, " \n");
    char *number = strtok(NULL, " \n");
    if (verb == NULL)
        return 0;
    if (strcmp(verb, "list") == 0) {
        list(table);
        return 0;
    }
    if (key == NULL)
        return -1;
    if (strcmp(verb, "get") == 0) {
        get(table, key);
        return 0;
    }
    if (strcmp(verb, "del") == 0) {
        printf(table_delete(table, key) ? "%s deleted\n" : "%s was not set\n", key);
        return 0;
    }
    if (number == NULL)
        return -1;
    if (strcmp(verb, "set") == 0) {
        table_set(table, key, strtol(number, NULL, 10));
        return 0;
    }
    if (strcmp(verb, "add") == 0) {
        struct slot *slot = table_find(table, key);
        table_set(table, key, (slot ? slot->value : 0) + strtol(number, NULL, 10));
        return 0;
    }
    return -1;
}
