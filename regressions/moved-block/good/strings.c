/* Strings that names stand for. A name is one letter. */
#include "fill.h"

#include <string.h>

static struct {
    char name;
    char text[WORD_SIZE];
} strings[MOST_STRINGS];
static int count;

int define_string(char name, const char *text) {
    int at;
    for (at = 0; at < count; at++)
        if (strings[at].name == name)
            break;
    if (at == MOST_STRINGS)
        return 0;
    if (at == count)
        count++;
    strings[at].name = name;
    snprintf(strings[at].text, sizeof strings[at].text, "%s", text);
    return 1;
}

static const char *find(char name) {
    for (int i = 0; i < count; i++)
        if (strings[i].name == name)
            return strings[i].text;
    return "";
}

void expand_strings(const char *text, char *to, size_t size) {
    size_t used = 0;
    while (*text && used + 1 < size) {
        if (text[0] == '\\' && text[1] == '*' && text[2] != '\0') {
            const char *with = find(text[2]);
            size_t length = strlen(with);
            if (used + length + 1 > size)
                break;
            memcpy(to + used, with, length);
            used += length;
            text += 3;
        } else {
            to[used++] = *text++;
        }
    }
    to[used] = '\0';
}
