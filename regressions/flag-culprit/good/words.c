#include "concord.h"

#include <stdlib.h>
#include <string.h>

static unsigned hash_of(const char *text) {
    unsigned hash = 5381;
    while (*text)
        hash = hash * 33 + (unsigned char)*text++;
    return hash % BUCKETS;
}

/* Orders words by their letters; an apostrophe or a hyphen counts for nothing. */
int compare_words(const char *first, const char *second) {
    for (;;) {
        while (*first == '\'' || *first == '-')
            first++;
        while (*second == '\'' || *second == '-')
            second++;
        if (*first != *second)
            return *first < *second ? -1 : 1;
        if (*first == '\0')
            return 0;
        first++;
        second++;
    }
}

struct word *find_word(struct words *words, const char *text) {
    struct word *word = words->buckets[hash_of(text)];
    while (word && strcmp(word->text, text) != 0)
        word = word->neighbour;
    return word;
}

static void insert(struct words *words, struct word *word) {
    struct word **link = &words->first;
    while (*link && compare_words((*link)->text, word->text) <= 0)
        link = &(*link)->next;
    word->next = *link;
    *link = word;
}

static struct word *new_word(struct words *words, const char *text) {
    struct word *word = get_memory(sizeof *word);
    unsigned hash = hash_of(text);

    word->text = get_memory(strlen(text) + 1);
    strcpy(word->text, text);
    word->neighbour = words->buckets[hash];
    words->buckets[hash] = word;
    insert(words, word);
    words->count++;
    return word;
}

void add_word(struct words *words, const char *text, int line) {
    struct word *word = find_word(words, text);
    struct place *place;

    if (word == NULL)
        word = new_word(words, text);
    word->count++;
    if (word->last && word->last->line == line)
        return;
    place = get_memory(sizeof *place);
    place->line = line;
    if (word->last)
        word->last->next = place;
    else
        word->first = place;
    word->last = place;
}

void free_words(struct words *words) {
    struct word *word = words->first;
    while (word) {
        struct word *next = word->next;
        struct place *place = word->first;
        while (place) {
            struct place *after = place->next;
            free(place);
            place = after;
        }
        free(word->text);
        free(word);
        word = next;
    }
    memset(words, 0, sizeof *words);
}
