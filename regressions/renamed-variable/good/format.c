#include "json.h"
#include "message.h"

#include <string.h>

enum { MOST_BRACKETS = 64 };

static char closing(char open) {
    return open == '{' ? '}' : ']';
}

/* Columns of a list that is written on one line, or -1 if it holds a bracket. */
static int flat_width(struct lexer lexer) {
    int width = 1;
    lexer.ahead = 1;
    for (;;) {
        struct token token = next_token(&lexer);
        width += (int)token.size;
        if (token.type == CLOSE)
            return width;
        if (token.type == OPEN || token.type == END || token.type == WRONG)
            return -1;
        if (token.type == COMMA || token.type == COLON)
            width++;
    }
}

static void new_line(struct buffer *out, int columns) {
    buffer_put(out, '\n');
    buffer_pad(out, columns);
}

int format(const char *text, const struct options *options, struct buffer *out) {
    struct lexer lexer = { text, 1, 0 };
    char brackets[MOST_BRACKETS];
    int flat[MOST_BRACKETS];
    int level = 0;
    int documents = 0, width;
    int value = 0; /* a value was just written */
    int keyed = 0; /* a key and a colon were just written */

    for (;;) {
        struct token token = next_token(&lexer);

        if (token.type == WRONG) {
            warn(token.line, "cannot read '%.10s'", token.text);
            return -1;
        }
        if (token.type == END) {
            if (level > 0) {
                warn(token.line, "'%c' is missing", closing(brackets[level - 1]));
                return -1;
            }
            break;
        }
        if (value && level > 0 && token.type != COMMA && token.type != CLOSE && token.type != COLON) {
            warn(token.line, "a comma is missing");
            return -1;
        }
        switch (token.type) {
        case OPEN:
            if (level == MOST_BRACKETS || level == options->deepest) {
                warn(token.line, "too many brackets in each other");
                return -1;
            }
            brackets[level] = *token.text;
            buffer_put(out, *token.text);
            width = flat_width(lexer);
            flat[level] = width > 0 && buffer_column(out) + width <= options->width;
            value = 0;
            keyed = 0;
            if (!flat[level++])
                new_line(out, level * options->step);
            break;
        case CLOSE:
            if (level == 0 || closing(brackets[level - 1]) != *token.text || keyed) {
                warn(token.line, "'%c' does not belong here", *token.text);
                return -1;
            }
            level--;
            if (!flat[level])
                new_line(out, level * options->step);
            buffer_put(out, *token.text);
            value = 1;
            break;
        case COMMA:
            if (!value || level == 0) {
                warn(token.line, "a comma does not belong here");
                return -1;
            }
            buffer_put(out, ',');
            if (flat[level - 1])
                buffer_put(out, ' ');
            else
                new_line(out, options->step * level);
            value = 0;
            break;
        case COLON:
            if (!value || keyed || level == 0 || brackets[level - 1] != '{') {
                warn(token.line, "a colon does not belong here");
                return -1;
            }
            buffer_add(out, ": ", 2);
            value = 0;
            keyed = 1;
            break;
        default:
            buffer_add(out, token.text, token.size);
            value = 1;
            keyed = 0;
            break;
        }
        if (value && level == 0) {
            documents++;
            value = 0;
            buffer_put(out, '\n');
        }
    }
    note("%d documents", documents);
    return 0;
}
