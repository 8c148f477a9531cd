/* Replaces every ${word} in a text by what the word stands for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct binding {
    const char *name;
    const char *value;
};

static const struct binding bindings[] = {
    {"name", "Ms Turing"},
    {"place", "Wilmslow"},
    {"order", "1936"},
};

static const char *lookup(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++)
        if (strlen(bindings[i].name) == length && memcmp(bindings[i].name, name, length) == 0)
            return bindings[i].value;
    return NULL;
}

static int expand(const char *text, FILE *out) {
    const char *at = text;
    int unknown = 0;
    while (*at) {
        const char *open = strstr(at, "${");
        const char *close = open ? strchr(open, '}') : NULL;
        const char *value;
        if (close == NULL) {
            fputs(at, out);
            break;
        }
        fwrite(at, 1, (size_t)(open - at), out);
        at = open;
        value = lookup(open + 2, (size_t)(close - open - 2));
        if (value == NULL) {
            unknown++;
            continue;
        }
        fputs(value, out);
        at = close + 1;
    }
    return unknown;
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "r");
    size_t used = 0, room = 4096;
    char *text = malloc(room);
    size_t got;
    if (file == NULL || text == NULL) {
        perror(path);
        exit(1);
    }
    while ((got = fread(text + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (used + 1 == room) {
            room *= 2;
            text = realloc(text, room);
        }
    }
    text[used] = '\0';
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    char *text;
    int unknown;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    text = read_all(argv[1]);
    unknown = expand(text, stdout);
    free(text);
    printf("-- %d unknown\n", unknown);
    return 0;
}
