#include "lines.h"

#include <stdio.h>
#include <string.h>

int line_fits(const struct line *line, int length, int limit) {
    if (line->words == 0)
        return 1;
    return line->width + 1 + length < limit;
}

void line_add(struct line *line, const char *word, int length) {
    if (line->width + 1 + length >= (int)sizeof line->text)
        return;
    if (line->words > 0)
        line->text[line->width++] = ' ';
    memcpy(line->text + line->width, word, (size_t)length);
    line->width += length;
    line->text[line->width] = '\0';
    line->words++;
}

void line_print(struct line *line, int number) {
    if (line->words == 0)
        return;
    printf("%2d | %s\n", number, line->text);
    line->width = 0;
    line->words = 0;
    line->text[0] = '\0';
}
