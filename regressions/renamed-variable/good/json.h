#ifndef JSON_H
#define JSON_H

#include "buffer.h"

enum type { END, OPEN, CLOSE, COMMA, COLON, STRING, NUMBER, WORD, WRONG };

struct token {
    enum type type;
    const char *text;
    size_t size;
    int line;
};

struct lexer {
    const char *at;
    int line;
    int ahead; /* it only looks ahead, and says nothing */
};

struct options {
    int step;    /* columns that each bracket adds */
    int width;   /* lists that are not longer stay on a line */
    int deepest; /* brackets in brackets */
};

struct token next_token(struct lexer *lexer);

/* Formats documents one after the other. Returns 0, or -1 if something is wrong. */
int format(const char *text, const struct options *options, struct buffer *out);

#endif
