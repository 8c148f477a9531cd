#include "fill.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that go on with a character have the bits 10 at the top. */
int text_width(const char *text) {
    int width = 0;
    for (; *text; text++)
        if (((unsigned char)*text & 0xc0) != 0x80)
            width++;
    return width;
}

static int is_abbreviation(const char *text, size_t length) {
    static const char *const known[] = {"Dr", "Mr", "Mrs", "St", "e.g", "i.e", "cf", "vol", "p"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == length && strncmp(known[i], text, length) == 0)
            return 1;
    return 0;
}

int ends_sentence(const char *text) {
    size_t length = strlen(text);
    while (length > 0 && strchr(")]\"'", text[length - 1]))
        length--;
    if (length < 2)
        return 0;
    switch (text[length - 1]) {
    case '.':
        return !is_abbreviation(text, length - 1);
    case '!':
    case '?':
        return 1;
    default:
        return 0;
    }
}

void paragraph_add(struct paragraph *paragraph, const char *from, size_t length) {
    struct word *word;
    if (paragraph->count == MOST_WORDS)
        return;
    word = &paragraph->words[paragraph->count++];
    word->text = malloc(length + 1);
    memcpy(word->text, from, length);
    word->text[length] = '\0';
    word->width = text_width(word->text);
    word->sentence = ends_sentence(word->text);
}

void paragraph_clear(struct paragraph *paragraph) {
    for (int i = 0; i < paragraph->count; i++)
        free(paragraph->words[i].text);
    paragraph->count = 0;
    paragraph->indent = paragraph->hang = 0;
}
