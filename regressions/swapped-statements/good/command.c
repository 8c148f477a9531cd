/* Commands, a letter and words behind it:
 *   i N TEXT   insert before a line     c N TEXT   change a line
 *   d N        delete a line            m N M      move a line
 *   j N        join two lines           s N A B    substitute
 *   u          take back                p          print
 *   f A        print lines with A       = count the lines
 */
#include "editor.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 4 };

struct words {
    int count;
    char *at[MOST_WORDS];
};

/* Cuts a command at spaces into at most `most` words; the last one is all the rest. */
static void split(struct words *words, char *command, int most) {
    words->count = 0;
    while (words->count < most) {
        command += strspn(command, " ");
        if (*command == '\0')
            return;
        words->at[words->count++] = command;
        if (words->count == most)
            return;
        command += strcspn(command, " ");
        if (*command)
            *command++ = '\0';
    }
}

static int fail(struct editor *editor, const char *why) {
    editor->error = why;
    return -1;
}

static int line_number(struct editor *editor, const char *word, int extra) {
    int number = strcmp(word, "$") == 0 ? editor->text.count : atoi(word);
    return number >= 1 && number <= editor->text.count + extra ? number : 0;
}

static int insert(struct editor *editor, struct words *words) {
    int at = line_number(editor, words->at[1], 1);
    if (at == 0)
        return fail(editor, "no such line");
    edit_insert(editor, at, words->at[2]);
    return 0;
}

static int change(struct editor *editor, struct words *words) {
    int at = line_number(editor, words->at[1], 0);
    if (at == 0)
        return fail(editor, "no such line");
    edit_replace(editor, at, words->at[2]);
    return 0;
}

static int delete(struct editor *editor, struct words *words) {
    int at = line_number(editor, words->at[1], 0);
    if (at == 0)
        return fail(editor, "no such line");
    edit_delete(editor, at);
    return 0;
}

static int move(struct editor *editor, struct words *words) {
    int from = line_number(editor, words->at[1], 0);
    int to = line_number(editor, words->at[2], 0);
    if (from == 0 || to == 0)
        return fail(editor, "no such line");
    edit_move(editor, from, to);
    return 0;
}

static int join(struct editor *editor, struct words *words) {
    if (edit_join(editor, line_number(editor, words->at[1], 0)) != 0)
        return fail(editor, "no such lines");
    return 0;
}

static int substitute(struct editor *editor, struct words *words) {
    int at = line_number(editor, words->at[1], 0);
    if (at == 0)
        return fail(editor, "no such line");
    if (edit_substitute(editor, at, words->at[2], words->at[3]) == 0)
        return fail(editor, "no match");
    return 0;
}

static int undo(struct editor *editor, struct words *words) {
    (void)words;
    if (!history_undo(&editor->history, &editor->text))
        return fail(editor, "nothing to take back");
    return 0;
}

static int print(struct editor *editor, struct words *words) {
    (void)words;
    for (int i = 1; i <= editor->text.count; i++)
        fprintf(editor->out, "%3d %s\n", i, text_line(&editor->text, i));
    return 0;
}

static int find(struct editor *editor, struct words *words) {
    int length;
    for (int i = 1; i <= editor->text.count; i++)
        if (match_find(text_line(&editor->text, i), words->at[1], &length) >= 0)
            fprintf(editor->out, "%3d %s\n", i, text_line(&editor->text, i));
    return 0;
}

static int count(struct editor *editor, struct words *words) {
    (void)words;
    fprintf(editor->out, "%d\n", editor->text.count);
    return 0;
}

static const struct command {
    char letter;
    int words; /* the letter with them */
    int (*run)(struct editor *editor, struct words *words);
} commands[] = {
    { 'i', 3, insert },
    { 'c', 3, change },
    { 'd', 2, delete },
    { 'm', 3, move },
    { 'j', 2, join },
    { 's', 4, substitute },
    { 'u', 1, undo },
    { 'p', 1, print },
    { 'f', 2, find },
    { '=', 1, count },
};

int command_run(struct editor *editor, char *command) {
    struct words words;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *entry = &commands[i];
        if (entry->letter != command[0])
            continue;
        split(&words, command, entry->words);
        if (words.count < entry->words)
            return fail(editor, "too few words");
        editor->history.group++;
        return entry->run(editor, &words);
    }
    return fail(editor, "no such command");
}
