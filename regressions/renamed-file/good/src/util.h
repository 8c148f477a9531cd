#ifndef UTIL_H
#define UTIL_H

struct line {
    char text[256];
    int width;
    int words;
};

/* Whether a word of this length still fits into the line. */
int line_fits(const struct line *line, int length, int limit);
void line_add(struct line *line, const char *word, int length);
void line_print(struct line *line, int number);

#endif
