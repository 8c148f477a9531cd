#include "fill.h"

#include <string.h>

void page_start(struct page *page, FILE *out) {
    memset(page, 0, sizeof *page);
    page->style.width = 60;
    page->style.adjust = 1;
    page->style.fill = 1;
    page->style.once = -1;
    page->out = out;
    page->line.number = 1;
    line_start(&page->line, &page->style);
}

/* Writes the line, and begins the next one. The last line of a paragraph stays as it is. */
void end_line(struct page *page, int last) {
    struct line *line = &page->line;
    int gaps = line->count - 1;

    if (line->count == 0)
        return;
    if (page->style.adjust && !last && gaps > 0) {
        int each = line->room / gaps;
        int extra = line->room % gaps;
        for (int i = 0; i < gaps; i++) {
            /* What does not go round goes to the left, then to the right, so that
             * there are no rivers. */
            int more = line->number % 2 == 0 ? i < extra : i >= gaps - extra;
            line->gaps[i + 1] += each + more;
        }
    }
    write_line(page, line, last);
    line->number = last ? 1 : line->number + 1;
    page->style.once = -1;
    line_start(line, &page->style);
}

void end_paragraph(struct page *page) {
    end_line(page, 1);
}

void add_word(struct page *page, const char *word) {
    if (page->line.count > 0 && !line_fits(&page->line, word))
        end_line(page, 0);
    line_add(&page->line, word);
}

static int is_blank(const char *text) {
    return text[strspn(text, " \t")] == '\0';
}

void add_text(struct page *page, char *text) {
    char word[WORD_SIZE];

    if (is_blank(text)) {
        end_paragraph(page);
        write_blank(page);
        return;
    }
    while (*text) {
        size_t length;
        text += strspn(text, " \t");
        length = strcspn(text, " \t");
        if (length == 0)
            break;
        if (length >= WORD_SIZE)
            length = WORD_SIZE - 1;
        memcpy(word, text, length);
        word[length] = '\0';
        add_word(page, word);
        text += length;
    }
    if (!page->style.fill || page->style.centre > 0)
        end_paragraph(page);
}
