#include "pick.h"

#include <stdlib.h>
#include <string.h>

static void add(struct ignore_rules *rules, const char *line) {
    struct ignore_rule rule = {NULL, 0, 0, 0, 0};
    size_t length;
    if (*line == '!') {
        rule.negated = 1;
        line++;
    }
    length = strlen(line);
    if (length > 1 && line[length - 1] == '/') {
        rule.folder = 1;
        length--;
    }
    rule.pattern = malloc(length + 1);
    memcpy(rule.pattern, line, length);
    rule.pattern[length] = '\0';
    rule.anchored = pattern_has_slash(rule.pattern);
    if (rule.pattern[0] == '/')
        memmove(rule.pattern, rule.pattern + 1, length);
    rules->all = realloc(rules->all, (size_t)(rules->count + 1) * sizeof *rules->all);
    rules->all[rules->count++] = rule;
}

int ignore_load(struct ignore_rules *rules, const char *path) {
    char line[256];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\n");
        while (length > 0 && line[length - 1] == ' ')
            length--;
        line[length] = '\0';
        if (length > 0 && line[0] != '#')
            add(rules, line);
    }
    fclose(file);
    return 1;
}

static int applies(const struct ignore_rule *rule, const char *path, int folder) {
    const char *name = strrchr(path, '/');
    if (rule->folder && !folder)
        return 0;
    if (rule->anchored)
        return pattern_matches(rule->pattern, path);
    return pattern_matches(rule->pattern, name ? name + 1 : path);
}

/* The last rule that applies decides. */
static int decide(struct ignore_rules *rules, const char *path, int folder) {
    for (int i = rules->count - 1; i >= 0; i--) {
        if (applies(&rules->all[i], path, folder)) {
            rules->all[i].hits++;
            return !rules->all[i].negated;
        }
    }
    return 0;
}

int ignore_path(struct ignore_rules *rules, const char *path) {
    char part[512];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - path);
        if (length >= sizeof part)
            return 0;
        memcpy(part, path, length);
        part[length] = '\0';
        if (decide(rules, part, 1))
            return 1;
    }
    return decide(rules, path, 0);
}

void ignore_free(struct ignore_rules *rules) {
    for (int i = 0; i < rules->count; i++)
        free(rules->all[i].pattern);
    free(rules->all);
}
