/* Counts the words given; ends with 1 if the counts do not add up. */
#include <stdio.h>
#include <string.h>

#include "dict.h"

static int by_hand(char **words, int count) {
    int different = 0;
    for (int i = 0; i < count; i++) {
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= strcmp(words[i], words[j]) == 0;
        different += !seen;
    }
    return different;
}

int main(int argc, char **argv) {
    static struct dict dict;
    int expected = by_hand(argv + 1, argc - 1);
    int keys;
    for (int i = 1; i < argc; i++)
        dict_node(&dict, argv[i])->count++;
    keys = dict.keys;
    dict_free(&dict);
    if (keys != expected) {
        fprintf(stderr, "%d keys, but %d different words\n", keys, expected);
        return 1;
    }
    printf("%d different words\n", keys);
    return 0;
}
