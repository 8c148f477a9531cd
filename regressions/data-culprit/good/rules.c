/* A file of rules has lines of three kinds:
       step N
       SUFFIX -> REPLACEMENT MEASURE      (a dash for an empty replacement)
       stop WORD...
   Within a step, the first rule whose suffix fits is the only one tried. */
#include "concord.h"

#include <stdlib.h>
#include <string.h>

static int add_stops(struct rules *rules, char *text) {
    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t")) {
        if (rules->stop_count == MOST_STOPS || strlen(word) >= WORD_ROOM)
            return 0;
        strcpy(rules->stops[rules->stop_count++], word);
    }
    return 1;
}

static int add_rule(struct rules *rules, const char *line, int step) {
    struct rule *rule = &rules->all[rules->count];
    if (rules->count == MOST_RULES)
        return 0;
    if (sscanf(line, "%15s -> %15s %d", rule->suffix, rule->replacement, &rule->measure) != 3)
        return 0;
    if (strcmp(rule->replacement, "-") == 0)
        rule->replacement[0] = '\0';
    rule->step = step;
    rules->count++;
    return 1;
}

int rules_load(struct rules *rules, const char *path) {
    char line[512];
    int number = 0, step = 0, fine = 1;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    rules->count = rules->stop_count = 0;
    while (fine && fgets(line, sizeof line, file)) {
        number++;
        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " \t")] == '\0')
            continue;
        if (strncmp(line, "stop ", 5) == 0)
            fine = add_stops(rules, line + 5);
        else if (strncmp(line, "step ", 5) == 0)
            step = atoi(line + 5);
        else
            fine = add_rule(rules, line, step);
    }
    fclose(file);
    return fine ? 0 : number;
}

int rules_is_stop(const struct rules *rules, const char *word) {
    for (int i = 0; i < rules->stop_count; i++)
        if (strcmp(rules->stops[i], word) == 0)
            return 1;
    return 0;
}
