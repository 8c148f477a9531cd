#include "concord.h"

#include <stdlib.h>
#include <string.h>

static int usage(void) {
    fprintf(stderr, "usage: concord [-n LEAST] [-w WIDTH] [-c] [-s STOP-WORDS] FILE\n");
    return 2;
}

int main(int argc, char **argv) {
    struct options options = { 1, 60, 1 };
    struct words words = { 0 };
    struct reader reader = { NULL, 1, 1 };
    const char *path = NULL;
    char word[WORD_SIZE];

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
            options.least = atoi(argv[++i]);
        } else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc) {
            options.width = atoi(argv[++i]);
        } else if (strcmp(argv[i], "-c") == 0) {
            options.fold = 0;
        } else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
            if (load_stop_words(argv[++i]) != 0) {
                perror(argv[i]);
                return 2;
            }
        } else if (path == NULL) {
            path = argv[i];
        } else {
            return usage();
        }
    }
    if (path == NULL)
        return usage();
    reader.in = fopen(path, "r");
    reader.fold = options.fold;
    if (reader.in == NULL) {
        perror(path);
        return 2;
    }
    while (next_word(&reader, word) > 0)
        if (!is_stop_word(word))
            add_word(&words, word, reader.line);
    fclose(reader.in);
    print_words(&words, &options, stdout);
    free_words(&words);
    free_stop_words();
    return 0;
}
