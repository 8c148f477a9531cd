#ifndef STYLE_H
#define STYLE_H

/* How the items of a list look. */
struct list_style {
    int ordered;
    int indent; /* column of the marks */
    int plain;  /* column of the text after a bullet */
    int wide;   /* column of the text after a number */
};

struct page_style {
    int width;
    int underline; /* character under headings */
};

void style_list(struct list_style *style, int ordered, int indent);
void style_page(struct page_style *style, int width);

/* Writes the mark of an item, at most `room` bytes with the end. */
void style_mark(const struct list_style *style, int number, char *mark, int room);

#endif
