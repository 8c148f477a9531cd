/* Strings that grow. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

struct text {
    char *bytes;
    size_t length;
    size_t room;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_add_string(struct text *text, const char *string);
void text_free(struct text *text);
/* The contents of a file; NULL bytes if it cannot be read. */
struct text text_of_file(const char *path);
char *copy_string(const char *bytes, size_t length);

#endif
