/* A concordance: the words of a text, and the lines that they are on. */
#ifndef CONCORD_H
#define CONCORD_H

#include <stddef.h>
#include <stdio.h>

enum { WORD_SIZE = 64, BUCKETS = 64 };

struct place {
    int line;
    struct place *next;
};

struct word {
    char *text;
    int count;
    struct place *first, *last;
    struct word *next;     /* in the order of the output */
    struct word *neighbour; /* with the same hash */
};

struct words {
    struct word *first;
    struct word *buckets[BUCKETS];
    int count;
};

struct options {
    int least;    /* words that are rarer are left out */
    int width;    /* of the lines that are written */
    int fold;     /* capitals are small letters */
};

struct reader {
    FILE *in;
    int line;
    int fold;
};

/* Reads the next word. Returns its length, 0 at the end. */
size_t next_word(struct reader *reader, char *word);

struct word *find_word(struct words *words, const char *text);
void add_word(struct words *words, const char *text, int line);
int compare_words(const char *first, const char *second);
void free_words(struct words *words);

/* Words that are too common to be listed. */
int load_stop_words(const char *path);
int is_stop_word(const char *text);
void free_stop_words(void);

void print_words(const struct words *words, const struct options *options, FILE *out);

void *get_memory(size_t size);

#endif
