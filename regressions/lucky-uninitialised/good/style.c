#include "style.h"

#include <stdio.h>

#define BULLET "*"
#define SMALLEST_WIDTH 16

/* Between a mark and its text. */
#define MARK_GAP 1

void style_list(struct list_style *style, int ordered, int indent) {
    if (indent < 0)
        indent = 0;
    style->ordered = ordered;
    style->indent = indent;
    style->plain = indent + 1 + MARK_GAP;
    style->wide = indent + 3 + MARK_GAP;
}

void style_page(struct page_style *style, int width) {
    if (width < SMALLEST_WIDTH)
        width = SMALLEST_WIDTH;
    style->width = width;
    style->underline = '=';
}

void style_mark(const struct list_style *style, int number, char *mark, int room) {
    if (style->ordered)
        snprintf(mark, (unsigned)room, "%d.", number);
    else
        snprintf(mark, (unsigned)room, "%s", BULLET);
}
