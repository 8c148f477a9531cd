/* Breaks a paragraph so that the squares of what is left over in its lines, but the
   last, add up to as little as possible. */
#include "fill.h"

#include <limits.h>
#include <stdlib.h>

static int gap_after(const struct word *word, const struct settings *settings) {
    return word->sentence && settings->two_spaces ? 2 : 1;
}

/* What it costs to have the words from `from` to before `to` in a line. */
static long cost_of_line(const struct paragraph *paragraph, int from, int to, int used,
                         const struct settings *settings) {
    long left = settings->width - used;
    if (left < 0)
        return to == from + 1 ? -left * 1000 : -1;
    if (to == paragraph->count)
        return 0;
    return left * left;
}

/* For each word, the word that starts the line after the one that starts with it. */
static void break_lines(const struct paragraph *paragraph, const struct settings *settings, int *next) {
    int count = paragraph->count;
    long *best = malloc((size_t)(count + 1) * sizeof *best);
    best[count] = 0;
    for (int from = count - 1; from >= 0; from--) {
        int used = from == 0 ? paragraph->indent : paragraph->hang;
        best[from] = LONG_MAX;
        next[from] = from + 1;
        for (int to = from + 1; to <= count; to++) {
            long cost;
            if (to > from + 1)
                used += gap_after(&paragraph->words[to - 2], settings);
            used += paragraph->words[to - 1].width;
            cost = cost_of_line(paragraph, from, to, used, settings);
            if (cost < 0)
                break;
            if (best[to] != LONG_MAX && cost + best[to] < best[from]) {
                best[from] = cost + best[to];
                next[from] = to;
            }
        }
    }
    free(best);
}

static void print_line(const struct paragraph *paragraph, int from, int to, int number,
                       const struct settings *settings, FILE *out) {
    int indent = from == 0 ? paragraph->indent : paragraph->hang;
    int count = to - from;
    int *gaps = calloc((size_t)count, sizeof *gaps);
    int *blanks = calloc((size_t)count, sizeof *blanks);
    for (int i = 0; i < count; i++)
        gaps[i] = blanks[i] = gap_after(&paragraph->words[from + i], settings);
    if (settings->justify && to < paragraph->count)
        justify(paragraph->words + from, gaps, count, settings->width - indent, number, blanks);
    fprintf(out, "%*s", indent, "");
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s", paragraph->words[from + i].text);
        if (i + 1 < count)
            fprintf(out, "%*s", blanks[i], "");
    }
    fprintf(out, "\n");
    free(gaps);
    free(blanks);
}

void paragraph_print(const struct paragraph *paragraph, const struct settings *settings, FILE *out) {
    int number = 0;
    int *next = malloc((size_t)(paragraph->count + 1) * sizeof *next);
    break_lines(paragraph, settings, next);
    for (int from = 0; from < paragraph->count; from = next[from])
        print_line(paragraph, from, next[from], number++, settings, out);
    free(next);
}
