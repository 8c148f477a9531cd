#include "reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct block *append(struct document *doc, enum block_kind kind) {
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        exit(3);
    b->kind = kind;
    b->hang = -1;
    buffer_init(&b->text);
    if (doc->last)
        doc->last->next = b;
    else
        doc->first = b;
    doc->last = b;
    return b;
}

static void add_words(struct block *b, const char *line) {
    while (*line) {
        const char *end;
        while (isspace((unsigned char)*line))
            line++;
        for (end = line; *end && !isspace((unsigned char)*end); end++)
            ;
        if (end == line)
            break;
        if (b->text.length)
            buffer_puts(&b->text, " ");
        buffer_add(&b->text, line, (size_t)(end - line));
        line = end;
    }
}

static void complain(struct document *doc, const char *what, const char *line) {
    fprintf(stderr, "typeset: %s: %s\n", what, line);
    doc->problems++;
}

static void open_list(struct document *doc, const char *arguments) {
    struct list_request *list;
    char kind[16] = "";
    int indent = 0;
    if (doc->list_count == MAX_LISTS) {
        complain(doc, "too many lists", arguments);
        return;
    }
    sscanf(arguments, "%15s %d", kind, &indent);
    list = &doc->lists[doc->list_count++];
    list->ordered = strcmp(kind, "ordered") == 0;
    list->indent = indent;
}

static int items_so_far(const struct document *doc) {
    int count = 0;
    const struct block *b;
    for (b = doc->first; b; b = b->next)
        if (b->kind == BLOCK_ITEM && b->list == doc->list_count)
            count++;
    return count;
}

static void open_item(struct document *doc, const char *arguments) {
    struct block *b;
    int before = items_so_far(doc);
    if (doc->list_count == 0) {
        complain(doc, "item outside a list", arguments);
        return;
    }
    b = append(doc, BLOCK_ITEM);
    b->list = doc->list_count;
    b->number = before + 1;
    if (sscanf(arguments, "%d", &b->hang) != 1)
        b->hang = -1;
}

static void directive(struct document *doc, char *line) {
    char *arguments = line;
    while (*arguments && !isspace((unsigned char)*arguments))
        arguments++;
    if (*arguments)
        *arguments++ = '\0';
    if (strcmp(line, ".para") == 0)
        append(doc, BLOCK_PARAGRAPH);
    else if (strcmp(line, ".head") == 0)
        add_words(append(doc, BLOCK_HEADING), arguments);
    else if (strcmp(line, ".rule") == 0)
        append(doc, BLOCK_RULE);
    else if (strcmp(line, ".list") == 0)
        open_list(doc, arguments);
    else if (strcmp(line, ".item") == 0)
        open_item(doc, arguments);
    else if (strcmp(line, ".width") == 0)
        doc->width = atoi(arguments);
    else
        complain(doc, "unknown directive", line);
}

void document_read(struct document *doc, FILE *in) {
    char line[512];
    memset(doc, 0, sizeof *doc);
    doc->width = 40;
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '.') {
            directive(doc, line);
        } else if (line[0]) {
            if (!doc->last || doc->last->kind == BLOCK_HEADING || doc->last->kind == BLOCK_RULE)
                append(doc, BLOCK_PARAGRAPH);
            add_words(doc->last, line);
        }
    }
}

void document_free(struct document *doc) {
    struct block *b = doc->first;
    while (b) {
        struct block *next = b->next;
        buffer_free(&b->text);
        free(b);
        b = next;
    }
    doc->first = doc->last = NULL;
}
