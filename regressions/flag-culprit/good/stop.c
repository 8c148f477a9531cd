#include "concord.h"

#include <stdlib.h>
#include <string.h>

static char **list;
static int count, room;

int load_stop_words(const char *path) {
    FILE *in = fopen(path, "r");
    struct reader reader = { in, 1, 1 };
    char word[WORD_SIZE];

    if (in == NULL)
        return -1;
    while (next_word(&reader, word) > 0) {
        if (count == room) {
            room = room ? 2 * room : 16;
            list = realloc(list, (size_t)room * sizeof *list);
            if (list == NULL)
                abort();
        }
        list[count] = get_memory(strlen(word) + 1);
        strcpy(list[count++], word);
    }
    fclose(in);
    return 0;
}

int is_stop_word(const char *text) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return 1;
    return 0;
}

void free_stop_words(void) {
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
    list = NULL;
    count = room = 0;
}
