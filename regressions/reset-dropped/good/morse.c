/* Decodes Morse code: letters apart by a blank, words by a slash. */
#include <stdio.h>
#include <string.h>

#define MAX_CODE 8

struct letter {
    char letter;
    const char *code;
};

static const struct letter letters[] = {
    {'A', ".-"},   {'B', "-..."}, {'C', "-.-."}, {'D', "-.."},  {'E', "."},    {'F', "..-."},
    {'G', "--."},  {'H', "...."}, {'I', ".."},   {'J', ".---"}, {'K', "-.-"},  {'L', ".-.."},
    {'M', "--"},   {'N', "-."},   {'O', "---"},  {'P', ".--."}, {'Q', "--.-"}, {'R', ".-."},
    {'S', "..."},  {'T', "-"},    {'U', "..-"},  {'V', "...-"}, {'W', ".--"},  {'X', "-..-"},
    {'Y', "-.--"}, {'Z', "--.."},
};

struct decoder {
    char code[MAX_CODE];
    int length;
    int letters;
    int unknown;
};

static char lookup(const char *code, int length) {
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if ((int)strlen(letters[i].code) == length && memcmp(letters[i].code, code, (size_t)length) == 0)
            return letters[i].letter;
    return '?';
}

static void end_letter(struct decoder *decoder) {
    char letter;
    if (decoder->length == 0)
        return;
    letter = lookup(decoder->code, decoder->length);
    if (letter == '?')
        decoder->unknown++;
    putchar(letter);
    decoder->letters++;
    decoder->length = 0;
}

static void feed(struct decoder *decoder, int c) {
    switch (c) {
    case '.':
    case '-':
        if (decoder->length < MAX_CODE)
            decoder->code[decoder->length++] = (char)c;
        break;
    case ' ':
        end_letter(decoder);
        break;
    case '/':
        end_letter(decoder);
        putchar(' ');
        break;
    case '\n':
        end_letter(decoder);
        putchar('\n');
        break;
    default:
        decoder->unknown++;
    }
}

int main(void) {
    struct decoder decoder = {0};
    int c;
    while ((c = getchar()) != EOF)
        feed(&decoder, c);
    end_letter(&decoder);
    printf("%d letters\n", decoder.letters);
    return 0;
}
