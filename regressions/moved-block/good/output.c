#include "fill.h"

static void spaces(FILE *out, int count) {
    while (count-- > 0)
        putc(' ', out);
}

void write_line(struct page *page, struct line *line, int last) {
    int gaps = line->count - 1;

    spaces(page->out, line->indent);
    if (page->style.centre > 0 && last) {
        spaces(page->out, line->room / 2);
        page->style.centre--;
    }
    for (int i = 0; i <= gaps; i++) {
        spaces(page->out, line->gaps[i]);
        fputs(line->words[i], page->out);
    }
    putc('\n', page->out);
    page->lines++;
    page->blank = 0;
}

void write_blank(struct page *page) {
    if (page->blank)
        return;
    putc('\n', page->out);
    page->lines++;
    page->blank = 1;
}
