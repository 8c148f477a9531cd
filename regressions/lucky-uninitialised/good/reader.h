#ifndef READER_H
#define READER_H

#include <stdio.h>

#include "buffer.h"

enum block_kind { BLOCK_PARAGRAPH, BLOCK_HEADING, BLOCK_ITEM, BLOCK_RULE };

/* A piece of the document that is laid out by itself. */
struct block {
    enum block_kind kind;
    int list;           /* number of the list an item is in, from 1 */
    int number;         /* of an item within its list */
    int hang;           /* columns an item's text is set in, or -1 */
    struct buffer text; /* words, one blank between them */
    struct block *next;
};

struct list_request {
    int ordered;
    int indent;
};

#define MAX_LISTS 16

struct document {
    struct block *first;
    struct block *last;
    struct list_request lists[MAX_LISTS];
    int list_count;
    int width;
    int problems;
};

void document_read(struct document *doc, FILE *in);
void document_free(struct document *doc);

#endif
