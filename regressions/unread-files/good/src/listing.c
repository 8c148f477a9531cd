#include "pick.h"

#include <stdlib.h>
#include <string.h>

int listing_load(struct listing *listing, const char *path) {
    char line[512];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0')
            continue;
        system_slashes(line);
        if (listing->count == listing->room) {
            listing->room = listing->room ? listing->room * 2 : 16;
            listing->paths = realloc(listing->paths, (size_t)listing->room * sizeof *listing->paths);
        }
        listing->paths[listing->count++] = strdup(strncmp(line, "./", 2) == 0 ? line + 2 : line);
    }
    fclose(file);
    return 1;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void listing_sort(struct listing *listing) {
    qsort(listing->paths, (size_t)listing->count, sizeof *listing->paths, compare);
}

void listing_free(struct listing *listing) {
    for (int i = 0; i < listing->count; i++)
        free(listing->paths[i]);
    free(listing->paths);
}
