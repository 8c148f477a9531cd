/* Cuts a text into words. Bytes above ASCII are parts of letters. */
#include "concord.h"

#include <ctype.h>

static int is_letter(int c) {
    return c != EOF && (isalpha(c) || c >= 0x80);
}

static int is_inside(int c) {
    return is_letter(c) || c == '\'' || c == '-';
}

size_t next_word(struct reader *reader, char *word) {
    size_t length = 0;
    int c;

    while ((c = getc(reader->in)) != EOF && !is_letter(c))
        if (c == '\n')
            reader->line++;
    while (c != EOF && is_inside(c)) {
        if (length + 1 < WORD_SIZE)
            word[length++] = (char)(reader->fold ? tolower(c) : c);
        c = getc(reader->in);
    }
    ungetc(c, reader->in);
    while (length > 0 && (word[length - 1] == '\'' || word[length - 1] == '-'))
        length--;
    word[length] = '\0';
    return length;
}
