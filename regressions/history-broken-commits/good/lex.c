#include "as8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void lexer_start(struct lexer *lexer, const char *text, int line) {
    lexer->at = text;
    lexer->line = line;
    lexer_next(lexer);
}

static void take(struct token *token, const char *from, size_t length) {
    if (length >= sizeof token->text)
        length = sizeof token->text - 1;
    memcpy(token->text, from, length);
    token->text[length] = '\0';
}

static const char *number(struct token *token, const char *p) {
    char *end;
    int base = 10;
    if (*p == '$') {
        base = 16;
        p++;
    } else if (*p == '%') {
        base = 2;
        p++;
    }
    token->kind = TOKEN_NUMBER;
    token->number = (int)strtol(p, &end, base);
    return end;
}

void lexer_next(struct lexer *lexer) {
    struct token *token = &lexer->token;
    const char *p = lexer->at, *start;
    while (isspace((unsigned char)*p))
        p++;
    token->text[0] = '\0';
    token->number = 0;
    start = p;
    if (*p == '\0' || *p == ';') {
        token->kind = TOKEN_END;
    } else if (isalpha((unsigned char)*p) || *p == '_' || *p == '.') {
        do
            p++;
        while (isalnum((unsigned char)*p) || *p == '_');
        token->kind = TOKEN_NAME;
        take(token, start, (size_t)(p - start));
    } else if (isdigit((unsigned char)*p) || (*p == '$' && isxdigit((unsigned char)p[1])) ||
               (*p == '%' && (p[1] == '0' || p[1] == '1'))) {
        p = number(token, p);
    } else if (*p == '"') {
        p++;
        while (*p && *p != '"')
            p++;
        token->kind = TOKEN_STRING;
        take(token, start + 1, (size_t)(p - start - 1));
        if (*p == '"')
            p++;
        else
            error_at(lexer->line, "a string without an end");
    } else {
        token->kind = TOKEN_PUNCTUATION;
        take(token, p++, 1);
    }
    lexer->at = p;
}

int lexer_is(const struct lexer *lexer, char punctuation) {
    return lexer->token.kind == TOKEN_PUNCTUATION && lexer->token.text[0] == punctuation;
}

int lexer_accept(struct lexer *lexer, char punctuation) {
    if (!lexer_is(lexer, punctuation))
        return 0;
    lexer_next(lexer);
    return 1;
}
