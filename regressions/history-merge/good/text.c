#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *text, const char *bytes, size_t length) {
    if (text->length + length + 1 > text->room) {
        text->room = (text->length + length + 1) * 2;
        text->bytes = realloc(text->bytes, text->room);
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add_string(struct text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_free(struct text *text) {
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

struct text text_of_file(const char *path) {
    struct text text = {NULL, 0, 0};
    char buffer[4096];
    size_t count;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return text;
    text_add(&text, "", 0);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add(&text, buffer, count);
    fclose(file);
    return text;
}

char *copy_string(const char *bytes, size_t length) {
    char *copy = malloc(length + 1);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}
