#include "ini.h"
#include "initext.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    char *key, *value;
    struct pair *next;
} pair;

typedef struct section {
    char *name;
    pair *first, *last;
} section;

struct ini {
    section *list;
    int count, room;
    int error;
};

static section *add_section(ini *doc, const char *name) {
    section *s;
    if (doc->count == doc->room) {
        int room = doc->room ? doc->room * 2 : 4;
        section *list = realloc(doc->list, (size_t)room * sizeof *list);
        if (list == NULL)
            return NULL;
        doc->list = list;
        doc->room = room;
    }
    s = &doc->list[doc->count];
    s->first = s->last = NULL;
    s->name = str_copy(name);
    if (s->name == NULL)
        return NULL;
    doc->count++;
    return s;
}

static int add_pair(section *s, const char *key, const char *value) {
    pair *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    p->key = str_copy(key);
    p->value = str_copy(value);
    if (s->last != NULL)
        s->last->next = p;
    else
        s->first = p;
    s->last = p;
    return p->key != NULL && p->value != NULL ? 0 : -1;
}

/* Cuts a comment off, which begins with ; or #. */
static void strip_comment(char *text) {
    size_t i;
    for (i = 0; text[i]; i++) {
        if ((text[i] == ';' || text[i] == '#') && i > 0 && isspace((unsigned char)text[i - 1])) {
            text[i] = '\0';
            break;
        }
    }
}

static int parse_section(ini *doc, char *line) {
    char *end = strchr(line, ']');
    if (end == NULL)
        return -1;
    *end = '\0';
    return add_section(doc, str_trim(line + 1)) ? 0 : -1;
}

static int parse_pair(ini *doc, char *line) {
    char *equals = strchr(line, '=');
    char *value;
    if (equals == NULL || doc->count == 0)
        return -1;
    *equals = '\0';
    value = equals + 1;
    strip_comment(value);
    return add_pair(&doc->list[doc->count - 1], str_trim(line), str_trim(value));
}

ini *ini_read(FILE *in) {
    ini *doc = calloc(1, sizeof *doc);
    char buffer[256];
    int number = 0;
    if (doc == NULL)
        return NULL;
    while (fgets(buffer, sizeof buffer, in) != NULL) {
        char *line;
        int result = 0;
        number++;
        /* Spaces around a line do not matter. */
        line = str_trim(buffer);
        if (*line == '\0' || *line == ';' || *line == '#')
            continue;
        if (*line == '[')
            result = parse_section(doc, line);
        else
            result = parse_pair(doc, line);
        if (result != 0 && doc->error == 0)
            doc->error = number;
    }
    return doc;
}

void ini_free(ini *doc) {
    int i;
    for (i = 0; i < doc->count; i++) {
        pair *p = doc->list[i].first;
        while (p != NULL) {
            pair *next = p->next;
            free(p->key);
            free(p->value);
            free(p);
            p = next;
        }
        free(doc->list[i].name);
    }
    free(doc->list);
    free(doc);
}

int ini_error(const ini *doc) {
    return doc->error;
}

int ini_sections(const ini *doc) {
    return doc->count;
}

const char *ini_section_name(const ini *doc, int section) {
    return doc->list[section].name;
}

const char *ini_get(const ini *doc, int section, const char *key, const char *otherwise) {
    const pair *p;
    for (p = doc->list[section].first; p != NULL; p = p->next)
        if (str_same(p->key, key))
            return p->value;
    return otherwise;
}

long ini_get_int(const ini *doc, int section, const char *key, long otherwise) {
    const char *text = ini_get(doc, section, key, NULL);
    char *end;
    long value;
    if (text == NULL)
        return otherwise;
    value = strtol(text, &end, 10);
    return *end == '\0' ? value : otherwise;
}
