/* A formatter: it fills lines with words, as commands between them say. */
#ifndef FILL_H
#define FILL_H

#include <stdio.h>

enum { MOST_WORDS = 64, WORD_SIZE = 64, MOST_STRINGS = 16 };

struct style {
    int width;    /* of a line, its indent with it */
    int indent;
    int adjust;   /* make both margins straight */
    int centre;   /* lines that are still to be centred */
    int fill;
    int once;     /* indent of the next line only, -1 if there is none */
};

struct line {
    int count;               /* of words */
    char words[MOST_WORDS][WORD_SIZE];
    int gaps[MOST_WORDS];    /* spaces before each word, the first has none */
    int room;                /* columns that are left */
    int number;              /* in its paragraph, from 1 */
    int indent;
};

struct page {
    struct style style;
    struct line line;
    FILE *out;
    int lines;               /* that were written */
    int blank;               /* the last of them was empty */
};

/* Lines. */
void line_start(struct line *line, const struct style *style);
int line_fits(const struct line *line, const char *word);
void line_add(struct line *line, const char *word);

/* Formatting. */
void page_start(struct page *page, FILE *out);
void add_text(struct page *page, char *text);
void add_word(struct page *page, const char *word);
void end_line(struct page *page, int last);
void end_paragraph(struct page *page);

/* Output. */
void write_line(struct page *page, struct line *line, int last);
void write_blank(struct page *page);

/* Commands: lines that begin with a dot. Returns 0 if there is no such command. */
int command(struct page *page, char *text);

/* Strings: text that a name stands for, as in \*x. */
int define_string(char name, const char *text);
void expand_strings(const char *text, char *to, size_t size);

#endif
