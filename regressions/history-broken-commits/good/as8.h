/* An assembler for a small processor with an 8-bit accumulator and 16-bit addresses. */
#ifndef AS8_H
#define AS8_H

#include <stddef.h>
#include <stdint.h>

/* ---- lex.c: lines into tokens */

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_PUNCTUATION,
};

struct token {
    enum token_kind kind;
    char text[64];
    int number;
};

struct lexer {
    const char *at;
    int line;
    struct token token;
};

void lexer_start(struct lexer *lexer, const char *text, int line);
void lexer_next(struct lexer *lexer);
int lexer_is(const struct lexer *lexer, char punctuation);
int lexer_accept(struct lexer *lexer, char punctuation);

/* ---- symbols.c: names and their values */

struct symbol {
    char name[64];
    int value;
    int defined;
    int uses;
    struct symbol *next;
};

struct symbol *symbol_lookup(const char *name);
void symbol_define(const char *name, int value, int pass, int line);
void symbols_each(void (*visit)(const struct symbol *symbol));
void symbols_free(void);

/* ---- expression.c: values of operands */

struct value {
    int number;
    int known; /* No name in it is still to be defined. */
};

struct value expression(struct lexer *lexer, int here);

/* ---- opcodes.c: what the processor knows */

enum mode {
    MODE_NONE,
    MODE_IMMEDIATE, /* #value */
    MODE_NARROW,    /* an address below 256, in one byte */
    MODE_WIDE,      /* an address in two bytes */
    MODE_BRANCH,    /* a signed distance in one byte */
    MODES,
};

struct instruction {
    const char *name;
    int codes[MODES]; /* -1 if it has no such mode. */
};

const struct instruction *instruction_find(const char *name);
int mode_size(enum mode mode);

/* ---- assemble.c: both passes */

/* Returns the number of errors. */
int assemble(char **lines, int count, int list);

/* ---- output.c: bytes and messages */

void output_start(int pass, int list);
void output_byte(int address, int byte);
void output_line(int address, const char *source);
void output_dump(void);
void output_free(void);
void error_at(int line, const char *format, ...);
int error_count(void);

#endif
