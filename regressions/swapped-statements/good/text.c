#include "editor.h"

#include <stdlib.h>
#include <string.h>

char *copy_of(const char *line) {
    char *copy = malloc(strlen(line) + 1);
    if (copy == NULL)
        abort();
    return strcpy(copy, line);
}

static void grow(struct text *text) {
    if (text->count < text->room)
        return;
    text->room = text->room ? 2 * text->room : 16;
    text->lines = realloc(text->lines, (size_t)text->room * sizeof *text->lines);
    if (text->lines == NULL)
        abort();
}

int text_load(struct text *text, FILE *in) {
    char line[256];
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        text_insert(text, text->count + 1, line);
    }
    return ferror(in) ? -1 : 0;
}

void text_free(struct text *text) {
    while (text->count > 0)
        text_delete(text, text->count);
    free(text->lines);
}

const char *text_line(const struct text *text, int at) {
    return at >= 1 && at <= text->count ? text->lines[at - 1] : NULL;
}

void text_insert(struct text *text, int at, const char *line) {
    grow(text);
    for (int i = text->count; i >= at; i--)
        text->lines[i] = text->lines[i - 1];
    text->lines[at - 1] = copy_of(line);
    text->count++;
}

void text_delete(struct text *text, int at) {
    free(text->lines[at - 1]);
    for (int i = at; i < text->count; i++)
        text->lines[i - 1] = text->lines[i];
    text->count--;
}

void text_replace(struct text *text, int at, const char *line) {
    char *copy = copy_of(line);
    free(text->lines[at - 1]);
    text->lines[at - 1] = copy;
}
