#include "editor.h"

#include <stdlib.h>
#include <string.h>

void edit_insert(struct editor *editor, int at, const char *line) {
    history_note(&editor->history, INSERTED, at, NULL);
    text_insert(&editor->text, at, line);
}

void edit_delete(struct editor *editor, int at) {
    history_note(&editor->history, DELETED, at,
                 text_line(&editor->text, at));
    text_delete(&editor->text, at);
}

void edit_replace(struct editor *editor, int at, const char *line) {
    history_note(&editor->history, REPLACED, at,
                 text_line(&editor->text, at));
    text_replace(&editor->text, at, line);
}

void edit_move(struct editor *editor, int from, int to) {
    char *line = copy_of(text_line(&editor->text, from));
    edit_delete(editor, from);
    edit_insert(editor, to, line);
    free(line);
}

/* Joins a line and the one after it, with a space between them. */
int edit_join(struct editor *editor, int at) {
    const char *first = text_line(&editor->text, at);
    const char *second = text_line(&editor->text, at + 1);
    char *joined;

    if (first == NULL || second == NULL)
        return -1;
    joined = malloc(strlen(first) + strlen(second) + 2);
    if (joined == NULL)
        abort();
    strcpy(joined, first);
    strcat(joined, " ");
    strcat(joined, second);
    edit_delete(editor, at + 1);
    edit_delete(editor, at);
    edit_insert(editor, at, joined);
    free(joined);
    return 0;
}

/* Replaces every match in a line. Returns how many there were. */
int edit_substitute(struct editor *editor, int at, const char *old, const char *new) {
    const char *line = text_line(&editor->text, at);
    char result[512] = "";
    size_t used = 0;
    int found, length, times = 0;

    while ((found = match_find(line, old, &length)) >= 0 && length > 0) {
        if (used + (size_t)found + strlen(new) >= sizeof result)
            break;
        memcpy(result + used, line, (size_t)found);
        used += (size_t)found;
        strcpy(result + used, new);
        used += strlen(new);
        line += found + length;
        times++;
    }
    if (used + strlen(line) >= sizeof result)
        return 0;
    strcpy(result + used, line);
    if (times > 0) {
        edit_delete(editor, at);
        edit_insert(editor, at, result);
    }
    return times;
}
