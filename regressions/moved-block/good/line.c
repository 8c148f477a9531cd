#include "fill.h"

#include <string.h>

static int length_of(const char *word) {
    return (int)strlen(word);
}

void line_start(struct line *line, const struct style *style) {
    line->count = 0;
    line->indent = style->once >= 0 ? style->once : style->indent;
    line->room = style->width - line->indent;
}

int line_fits(const struct line *line, const char *word) {
    if (line->count == MOST_WORDS)
        return 0;
    return length_of(word) + (line->count > 0) <= line->room;
}

void line_add(struct line *line, const char *word) {
    line->gaps[line->count] = line->count > 0;
    strcpy(line->words[line->count], word);
    line->room -= length_of(word) + (line->count > 0);
    line->count++;
}
