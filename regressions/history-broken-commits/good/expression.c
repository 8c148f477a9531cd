#include "as8.h"

static struct value sum(struct lexer *lexer, int here);

static struct value primary(struct lexer *lexer, int here) {
    struct value value = {0, 1};
    struct token *token = &lexer->token;
    if (token->kind == TOKEN_NUMBER) {
        value.number = token->number;
        lexer_next(lexer);
    } else if (token->kind == TOKEN_NAME) {
        struct symbol *symbol = symbol_lookup(token->text);
        symbol->uses++;
        value.number = symbol->value;
        value.known = symbol->defined != 0;
        lexer_next(lexer);
    } else if (lexer_accept(lexer, '*')) {
        value.number = here;
    } else if (lexer_accept(lexer, '-')) {
        value = primary(lexer, here);
        value.number = -value.number;
    } else if (lexer_accept(lexer, '<')) {
        value = primary(lexer, here);
        value.number &= 255;
    } else if (lexer_accept(lexer, '>')) {
        value = primary(lexer, here);
        value.number = (value.number >> 8) & 255;
    } else if (lexer_accept(lexer, '(')) {
        value = sum(lexer, here);
        if (!lexer_accept(lexer, ')'))
            error_at(lexer->line, "a bracket is not closed");
    } else {
        error_at(lexer->line, "a value is missing");
        lexer_next(lexer);
    }
    return value;
}

static struct value product(struct lexer *lexer, int here) {
    struct value left = primary(lexer, here);
    while (lexer_is(lexer, '*') || lexer_is(lexer, '/')) {
        int times = lexer_is(lexer, '*');
        lexer_next(lexer);
        struct value right = primary(lexer, here);
        left.known &= right.known;
        if (times)
            left.number *= right.number;
        else if (right.number != 0)
            left.number /= right.number;
        else if (right.known)
            error_at(lexer->line, "division by zero");
    }
    return left;
}

static struct value sum(struct lexer *lexer, int here) {
    struct value left = product(lexer, here);
    while (lexer_is(lexer, '+') || lexer_is(lexer, '-')) {
        int plus = lexer_is(lexer, '+');
        lexer_next(lexer);
        struct value right = product(lexer, here);
        left.known &= right.known;
        left.number += plus ? right.number : -right.number;
    }
    return left;
}

struct value expression(struct lexer *lexer, int here) {
    return sum(lexer, here);
}
