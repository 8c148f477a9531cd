/* Lists which words a text has, with all forms of a word together. */
#ifndef CONCORD_H
#define CONCORD_H

#include <stddef.h>
#include <stdio.h>

enum { WORD_ROOM = 64, MOST_RULES = 128, MOST_STOPS = 256 };

struct rule {
    char suffix[16];
    char replacement[16];
    int measure; /* syllables that must be left before the suffix */
    int step;    /* rules of a step exclude each other */
};

struct rules {
    struct rule all[MOST_RULES];
    int count;
    char stops[MOST_STOPS][WORD_ROOM];
    int stop_count;
};

/* ---- rules.c */

/* 0, or the number of the line that is not understood; -1 if there is no such file. */
int rules_load(struct rules *rules, const char *path);
int rules_is_stop(const struct rules *rules, const char *word);

/* ---- stem.c */

int stem_measure(const char *word, size_t length);
void stem(const struct rules *rules, const char *word, char *result);

/* ---- words.c */

struct word_reader {
    FILE *file;
    int line;
};

/* The next word in small letters; 0 at the end. */
int next_word(struct word_reader *reader, char *word);

/* ---- concordance.c */

struct form {
    char text[WORD_ROOM];
    int count;
    struct form *next;
};

struct entry {
    char stem[WORD_ROOM];
    int count;
    int first_line;
    struct form *forms;
    struct entry *left, *right;
};

void concordance_add(struct entry **root, const char *stem, const char *word, int line);
void concordance_print(const struct entry *entry, int least);
void concordance_free(struct entry *entry);

#endif
