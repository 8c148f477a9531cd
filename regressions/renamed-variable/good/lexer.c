#include "json.h"
#include "message.h"

#include <ctype.h>
#include <string.h>

static struct token make(const struct lexer *lexer, enum type type, size_t size) {
    struct token token = { type, lexer->at, size, lexer->line };
    return token;
}

static void complain(const struct lexer *lexer, const char *what, int c) {
    if (!lexer->ahead)
        warn(lexer->line, what, c);
}

static size_t string_size(const struct lexer *lexer) {
    const char *at = lexer->at + 1;
    while (*at && *at != '"' && *at != '\n') {
        if (*at == '\\' && at[1] != '\0' && at[1] != '\n') {
            if (strchr("\"\\/bfnrtu", at[1]) == NULL)
                complain(lexer, "unknown escape \\%c", at[1]);
            at++;
        } else if (*at == '\t') {
            complain(lexer, "a tab in a string", 0);
        }
        at++;
    }
    return *at == '"' ? (size_t)(at + 1 - lexer->at) : 0;
}

static size_t number_size(const struct lexer *lexer) {
    const char *at = lexer->at;
    if (*at == '-')
        at++;
    if (at[0] == '0' && isdigit((unsigned char)at[1]))
        complain(lexer, "a number begins with %c", '0');
    while (isdigit((unsigned char)*at))
        at++;
    if (*at == '.')
        for (at++; isdigit((unsigned char)*at); at++)
            ;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-')
            at++;
        while (isdigit((unsigned char)*at))
            at++;
    }
    return (size_t)(at - lexer->at);
}

static size_t word_size(const struct lexer *lexer) {
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (strncmp(lexer->at, words[i], size) == 0 && !isalnum((unsigned char)lexer->at[size]))
            return size;
    }
    return 0;
}

struct token next_token(struct lexer *lexer) {
    struct token token;

    for (; isspace((unsigned char)*lexer->at); lexer->at++)
        if (*lexer->at == '\n')
            lexer->line++;
    switch (*lexer->at) {
    case '\0':
        return make(lexer, END, 0);
    case '{': case '[':
        token = make(lexer, OPEN, 1);
        break;
    case '}': case ']':
        token = make(lexer, CLOSE, 1);
        break;
    case ',':
        token = make(lexer, COMMA, 1);
        break;
    case ':':
        token = make(lexer, COLON, 1);
        break;
    case '"':
        token = make(lexer, STRING, string_size(lexer));
        break;
    default:
        if (*lexer->at == '-' || isdigit((unsigned char)*lexer->at))
            token = make(lexer, NUMBER, number_size(lexer));
        else
            token = make(lexer, WORD, word_size(lexer));
        break;
    }
    if (token.size == 0)
        token.type = WRONG;
    lexer->at += token.size;
    return token;
}
