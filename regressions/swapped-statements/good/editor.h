/* A line editor that reads commands from a script, and can take them back. */
#ifndef EDITOR_H
#define EDITOR_H

#include <stddef.h>
#include <stdio.h>

/* Lines of text, counted from 1. */
struct text {
    char **lines;
    int count, room;
};

enum change { INSERTED, DELETED, REPLACED };

/* What was changed, and the line as it was before. */
struct step {
    enum change change;
    int at;
    char *before; /* null if there was no line */
    int group;    /* steps of one command are taken back together */
};

struct history {
    struct step *steps;
    int count, room;
    int group;
};

struct editor {
    struct text text;
    struct history history;
    FILE *out;
    const char *error;
};

int text_load(struct text *text, FILE *in);
void text_free(struct text *text);
const char *text_line(const struct text *text, int at);
void text_insert(struct text *text, int at, const char *line);
void text_delete(struct text *text, int at);
void text_replace(struct text *text, int at, const char *line);

void history_note(struct history *history, enum change change, int at, const char *before);
/* Takes back what the last command did. Returns 0 if there is nothing. */
int history_undo(struct history *history, struct text *text);
void history_free(struct history *history);

/* Changes that can be taken back. */
void edit_insert(struct editor *editor, int at, const char *line);
void edit_delete(struct editor *editor, int at);
void edit_replace(struct editor *editor, int at, const char *line);
void edit_move(struct editor *editor, int from, int to);
int edit_join(struct editor *editor, int at);
int edit_substitute(struct editor *editor, int at, const char *old, const char *new);

/* Finds a pattern: '.' is any character, '*' repeats what is before it. Returns the
 * place and the length, or -1. */
int match_find(const char *line, const char *pattern, int *length);

/* Runs a command. Returns 0, or -1 with editor->error set. */
int command_run(struct editor *editor, char *command);

char *copy_of(const char *line);

#endif
