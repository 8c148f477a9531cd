#include "concord.h"

#include <string.h>

static int is_vowel(const char *word, size_t at) {
    if (strchr("aeiou", word[at]))
        return 1;
    return word[at] == 'y' && at > 0 && !is_vowel(word, at - 1);
}

/* How often a consonant follows a vowel. */
int stem_measure(const char *word, size_t length) {
    int measure = 0;
    for (size_t i = 1; i < length; i++)
        if (!is_vowel(word, i) && is_vowel(word, i - 1))
            measure++;
    return measure;
}

static int ends_with(const char *word, size_t length, const char *suffix) {
    size_t suffix_length = strlen(suffix);
    return length > suffix_length && strcmp(word + length - suffix_length, suffix) == 0;
}

/* `running` becomes `runn`, which should be `run`. */
static void undouble(char *word) {
    size_t length = strlen(word);
    if (length > 2 && word[length - 1] == word[length - 2] && !is_vowel(word, length - 1) &&
        !strchr("lsz", word[length - 1]))
        word[length - 1] = '\0';
}

static int apply(const struct rule *rule, char *word) {
    size_t length = strlen(word), rest;
    if (!ends_with(word, length, rule->suffix))
        return 0;
    rest = length - strlen(rule->suffix);
    if (stem_measure(word, rest) < rule->measure)
        return 1;
    if (rest + strlen(rule->replacement) >= WORD_ROOM)
        return 1;
    strcpy(word + rest, rule->replacement);
    if (rule->replacement[0] == '\0' && (strcmp(rule->suffix, "ing") == 0 || strcmp(rule->suffix, "ed") == 0))
        undouble(word);
    return 1;
}

void stem(const struct rules *rules, const char *word, char *result) {
    int done = -1;
    strcpy(result, word);
    if (strlen(result) < 3)
        return;
    for (int i = 0; i < rules->count; i++) {
        if (rules->all[i].step == done)
            continue;
        if (apply(&rules->all[i], result))
            done = rules->all[i].step;
    }
}
