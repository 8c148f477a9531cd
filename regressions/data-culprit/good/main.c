#include "concord.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    static struct rules rules;
    struct word_reader reader = {NULL, 1};
    struct entry *root = NULL;
    char word[WORD_ROOM], result[WORD_ROOM];
    int wrong, least;
    if (argc < 3) {
        fprintf(stderr, "usage: concord RULES TEXT [LEAST]\n");
        return 2;
    }
    wrong = rules_load(&rules, argv[1]);
    if (wrong != 0) {
        fprintf(stderr, "%s:%d: not a rule\n", argv[1], wrong);
        return 1;
    }
    reader.file = fopen(argv[2], "r");
    if (reader.file == NULL) {
        perror(argv[2]);
        return 1;
    }
    least = argc > 3 ? atoi(argv[3]) : 1;
    while (next_word(&reader, word)) {
        if (rules_is_stop(&rules, word))
            continue;
        stem(&rules, word, result);
        concordance_add(&root, result, word, reader.line);
    }
    concordance_print(root, least);
    concordance_free(root);
    fclose(reader.file);
    return 0;
}
