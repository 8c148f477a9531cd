/* Checks a configuration. The exit status has a bit for every kind of problem;
 * comments begin with # or ;. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, BAD_NUMBER = 1, UNKNOWN_KEY = 2, BAD_SYNTAX = 4 };

struct rule {
    const char *section;
    const char *key;
    int number;
};

static const struct rule rules[] = {
    {"listen", "port", 1},   {"listen", "host", 0}, {"limits", "clients", 1},
    {"limits", "timeout", 1}, {"log", "level", 0},   {"log", "file", 0},
};

#define RULES (sizeof rules / sizeof rules[0])
#define MAX_LINES 200

struct section {
    char name[32];
    char *lines[MAX_LINES];
    int count;
};

static char *strip(char *text) {
    char *end;
    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static const struct rule *find_rule(const char *section, const char *key) {
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].section, section) == 0 && strcmp(rules[i].key, key) == 0)
            return &rules[i];
    return NULL;
}

static int is_number(const char *text) {
    if (*text == '\0')
        return 0;
    for (; *text; text++)
        if (!isdigit((unsigned char)*text))
            return 0;
    return 1;
}

static int check_section(struct section *section) {
    int problems = OK;
    for (int i = 0; i < section->count; i++) {
        char *key = section->lines[i];
        char *value = strchr(key, '=');
        const struct rule *rule;
        if (value == NULL) {
            problems |= BAD_SYNTAX;
            continue;
        }
        *value++ = '\0';
        rule = find_rule(section->name, strip(key));
        if (rule == NULL)
            problems |= UNKNOWN_KEY;
        else if (rule->number && !is_number(strip(value)))
            problems |= BAD_NUMBER;
    }
    for (int i = 0; i < section->count; i++)
        free(section->lines[i]);
    section->count = 0;
    return problems;
}

int main(void) {
    static struct section section;
    char buffer[256];
    int status = OK;
    int sections = 0;

    while (fgets(buffer, sizeof buffer, stdin)) {
        char *line = strip(buffer);
        if (*line == '\0' || *line == '#' || *line == ';')
            continue;
        if (*line == '[') {
            if (section.count > 0)
                status |= check_section(&section);
            snprintf(section.name, sizeof section.name, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
            sections++;
        } else if (section.count < MAX_LINES) {
            section.lines[section.count++] = strdup(line);
        }
    }
    status = check_section(&section);
    printf("%d sections checked\n", sections);
    fflush(stdout);
    return status;
}
