/* Commands:
 *   .br          end the line           .sp        an empty line
 *   .ll N        length of lines        .in N      indent
 *   .ti N        indent of one line     .ce N      centre lines
 *   .ad, .na     adjust, or not         .fi, .nf   fill, or not
 *   .ds X TEXT   define a string
 */
#include "fill.h"

#include <stdlib.h>
#include <string.h>

/* A number, which may be relative to the one before. */
static int number(const char *text, int before) {
    int value = atoi(text);
    if (*text == '+' || *text == '-')
        value += before;
    return value < 0 ? 0 : value;
}

static int set_style(struct page *page, const char *name, const char *rest) {
    struct style *style = &page->style;
    int width;

    if (strcmp(name, "ll") == 0) {
        end_paragraph(page);
        width = number(rest, style->width);
        style->width = width < 10 ? 10 : width;
    } else if (strcmp(name, "in") == 0) {
        end_paragraph(page);
        style->indent = number(rest, style->indent);
    } else if (strcmp(name, "ti") == 0) {
        end_paragraph(page);
        style->once = number(rest, style->indent);
    } else if (strcmp(name, "ce") == 0) {
        end_paragraph(page);
        style->centre = *rest ? number(rest, 0) : 1;
    } else if (strcmp(name, "ad") == 0 || strcmp(name, "na") == 0) {
        style->adjust = name[0] == 'a';
    } else if (strcmp(name, "fi") == 0 || strcmp(name, "nf") == 0) {
        end_paragraph(page);
        style->fill = name[0] == 'f';
    } else {
        return 0;
    }
    if (page->line.count == 0)
        line_start(&page->line, style);
    return 1;
}

int command(struct page *page, char *text) {
    char name[3] = "";
    char *rest;

    if (strlen(text) < 3)
        return 0;
    memcpy(name, text + 1, 2);
    rest = text + 3;
    rest += strspn(rest, " ");
    if (strcmp(name, "br") == 0) {
        end_paragraph(page);
        return 1;
    }
    if (strcmp(name, "sp") == 0) {
        end_paragraph(page);
        write_blank(page);
        return 1;
    }
    if (strcmp(name, "ds") == 0 && *rest) {
        char *value = rest + 1;
        value += strspn(value, " ");
        return define_string(*rest, value);
    }
    return set_style(page, name, rest);
}
