/* Two passes over the source. The first finds out what labels are worth, so both have
   to agree about the size of every instruction. */
#include "as8.h"

#include <string.h>
#include <strings.h>

static int pass;
static int here;

static void emit(int byte) {
    output_byte(here++, byte & 255);
}

static void directive(struct lexer *lexer, const char *name) {
    if (strcasecmp(name, ".org") == 0) {
        here = expression(lexer, here).number;
    } else if (strcasecmp(name, ".byte") == 0) {
        do {
            if (lexer->token.kind == TOKEN_STRING) {
                for (const char *p = lexer->token.text; *p; p++)
                    emit(*p);
                lexer_next(lexer);
            } else {
                emit(expression(lexer, here).number);
            }
        } while (lexer_accept(lexer, ','));
    } else if (strcasecmp(name, ".word") == 0) {
        do {
            struct value value = expression(lexer, here);
            emit(value.number);
            emit(value.number >> 8);
        } while (lexer_accept(lexer, ','));
    } else if (strcasecmp(name, ".space") == 0) {
        int count = expression(lexer, here).number;
        while (count-- > 0)
            emit(0);
    } else {
        error_at(lexer->line, "unknown directive %s", name);
    }
}

static enum mode choose(const struct instruction *instruction, struct value value, int forced) {
    if (instruction->codes[MODE_BRANCH] >= 0)
        return MODE_BRANCH;
    if (forced || instruction->codes[MODE_NARROW] < 0)
        return MODE_WIDE;
    if (value.known && value.number >= 0 && value.number < 256)
        return MODE_NARROW;
    return MODE_WIDE;
}

static void instruction_line(struct lexer *lexer, const struct instruction *instruction) {
    enum mode mode = MODE_NONE;
    struct value value = {0, 1};
    if (lexer->token.kind != TOKEN_END) {
        if (lexer_accept(lexer, '#')) {
            mode = MODE_IMMEDIATE;
            value = expression(lexer, here);
        } else {
            int forced = lexer_accept(lexer, '!');
            value = expression(lexer, here);
            mode = choose(instruction, value, forced);
        }
    }
    if (instruction->codes[mode] < 0) {
        error_at(lexer->line, "%s does not take such an operand", instruction->name);
        return;
    }
    int next = here + mode_size(mode);
    emit(instruction->codes[mode]);
    switch (mode) {
    case MODE_IMMEDIATE:
    case MODE_NARROW:
        emit(value.number);
        break;
    case MODE_WIDE:
        emit(value.number);
        emit(value.number >> 8);
        break;
    case MODE_BRANCH:
        if (pass == 2 && (value.number - next < -128 || value.number - next > 127))
            error_at(lexer->line, "too far to branch");
        emit(value.number - next);
        break;
    default:
        break;
    }
}

static void statement(struct lexer *lexer) {
    char name[64];
    while (lexer->token.kind == TOKEN_NAME) {
        memcpy(name, lexer->token.text, sizeof name);
        lexer_next(lexer);
        if (lexer_accept(lexer, ':')) {
            symbol_define(name, here, pass, lexer->line);
            continue;
        }
        if (lexer_accept(lexer, '=')) {
            symbol_define(name, expression(lexer, here).number, pass, lexer->line);
        } else if (name[0] == '.') {
            directive(lexer, name);
        } else {
            const struct instruction *instruction = instruction_find(name);
            if (instruction)
                instruction_line(lexer, instruction);
            else
                error_at(lexer->line, "unknown instruction %s", name);
        }
        break;
    }
    if (lexer->token.kind != TOKEN_END && error_count() == 0)
        error_at(lexer->line, "unexpected %s", lexer->token.text);
}

/* A name that only pass one sees as unknown is wide in both passes. */
static void forget_definitions(const struct symbol *symbol) {
    ((struct symbol *)symbol)->defined = 0;
}

int assemble(char **lines, int count, int list) {
    for (pass = 1; pass <= 2 && error_count() == 0; pass++) {
        here = 0;
        output_start(pass, list);
        if (pass == 2)
            symbols_each(forget_definitions);
        for (int i = 0; i < count; i++) {
            struct lexer lexer;
            int start = here;
            lexer_start(&lexer, lines[i], i + 1);
            statement(&lexer);
            output_line(start, lines[i]);
        }
    }
    return error_count();
}
