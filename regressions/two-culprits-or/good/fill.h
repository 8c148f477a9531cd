/* Fills the lines of paragraphs. */
#ifndef FILL_H
#define FILL_H

#include <stddef.h>
#include <stdio.h>

enum { MOST_WORDS = 4096, LINE_ROOM = 1024 };

struct word {
    char *text;
    int width;     /* columns on the screen */
    int sentence;  /* it ends one */
};

struct paragraph {
    struct word words[MOST_WORDS];
    int count;
    int indent; /* of its first line */
    int hang;   /* of the others */
};

struct settings {
    int width;
    int justify;
    int two_spaces; /* after a sentence */
};

/* ---- words.c */

int text_width(const char *text);
int ends_sentence(const char *text);
void paragraph_add(struct paragraph *paragraph, const char *from, size_t length);
void paragraph_clear(struct paragraph *paragraph);

/* ---- fill.c */

void paragraph_print(const struct paragraph *paragraph, const struct settings *settings, FILE *out);

/* ---- justify.c */

/* Blanks to put behind each word so that the line becomes `room` columns wide. */
void justify(const struct word *words, const int *gaps, int count, int room, int turn, int *blanks);

#endif
