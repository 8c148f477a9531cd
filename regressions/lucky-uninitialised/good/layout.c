#include "layout.h"

#include "lines.h"

#include <string.h>

static void set_heading(struct buffer *out, const struct block *b, const struct page_style *page) {
    struct frame whole = {0, page->width};
    int length = (int)b->text.length;
    if (length > page->width)
        length = page->width;
    lines_set(out, b->text.text ? b->text.text : "", 0, &whole);
    buffer_fill(out, (char)page->underline, length);
    buffer_puts(out, "\n");
}

/* Sets the items of a list up to the first block that is not one. */
static const struct block *set_items(struct buffer *out, const struct document *doc,
                                     const struct block *b, const struct page_style *page) {
    int number = b->list;
    const struct list_request *request = &doc->lists[number - 1];
    struct list_style list;
    style_list(&list, request->ordered, request->indent);
    while (b && b->kind == BLOCK_ITEM && b->list == number) {
        char mark[16];
        int column, gap;
        struct frame frame;
        if (list.ordered)
            frame.left = list.wide;
        else
            frame.left = list.plain;
        frame.width = page->width;
        if (b->hang >= 0)
            frame.left = b->hang;
        gap = frame.left - list.indent;
        style_mark(&list, b->number, mark, (int)sizeof mark);
        buffer_fill(out, ' ', list.indent);
        buffer_puts(out, mark);
        column = (int)strlen(mark);
        if (column < gap) {
            buffer_fill(out, ' ', gap - column);
            column = gap;
        }
        lines_set(out, b->text.text ? b->text.text : "", list.indent + column, &frame);
        b = b->next;
    }
    return b;
}

void layout(const struct document *doc, struct buffer *out) {
    const struct block *b = doc->first;
    struct page_style page;
    style_page(&page, doc->width);
    while (b) {
        if (b != doc->first)
            buffer_puts(out, "\n");
        if (b->kind == BLOCK_ITEM) {
            b = set_items(out, doc, b, &page);
            continue;
        }
        if (b->kind == BLOCK_HEADING) {
            set_heading(out, b, &page);
        } else if (b->kind == BLOCK_RULE) {
            buffer_fill(out, '-', page.width);
            buffer_puts(out, "\n");
        } else {
            struct frame whole = {0, page.width};
            lines_set(out, b->text.text ? b->text.text : "", 0, &whole);
        }
        b = b->next;
    }
}
