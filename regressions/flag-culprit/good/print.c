#include "concord.h"

#include <string.h>

/* Columns of a text in UTF-8. */
static int columns(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += (*text & 0xc0) != 0x80;
    return count;
}

static int widest(const struct words *words, int least) {
    int most = 0;
    for (const struct word *word = words->first; word; word = word->next)
        if (word->count >= least && columns(word->text) > most)
            most = columns(word->text);
    return most;
}

static void print_places(const struct word *word, int indent, int width, FILE *out) {
    int used = indent;
    for (const struct place *place = word->first; place; place = place->next) {
        char number[16];
        int length = snprintf(number, sizeof number, " %d", place->line);
        if (used + length > width && used > indent) {
            fprintf(out, "\n%*s", indent, "");
            used = indent;
        }
        fputs(number, out);
        used += length;
    }
    fputc('\n', out);
}

void print_words(const struct words *words, const struct options *options, FILE *out) {
    int indent = widest(words, options->least);
    for (const struct word *word = words->first; word; word = word->next) {
        if (word->count < options->least)
            continue;
        fprintf(out, "%s%*s %3d:", word->text, indent - columns(word->text), "", word->count);
        print_places(word, indent + 5, options->width, out);
    }
}
