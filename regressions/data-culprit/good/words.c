#include "concord.h"

#include <ctype.h>

int next_word(struct word_reader *reader, char *word) {
    int c, length = 0;
    while ((c = getc(reader->file)) != EOF) {
        if (isalpha(c)) {
            if (length + 1 < WORD_ROOM)
                word[length++] = (char)tolower(c);
            continue;
        }
        if (length > 0) {
            ungetc(c, reader->file);
            break;
        }
        if (c == '\n')
            reader->line++;
    }
    word[length] = '\0';
    return length > 0;
}
