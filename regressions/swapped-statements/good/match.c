#include "editor.h"

/* Whether a pattern matches from here on; the end of the match if so. */
static const char *match_here(const char *at, const char *pattern) {
    if (*pattern == '\0')
        return at;
    if (pattern[1] == '*') {
        const char *from = at;
        while (*at && (pattern[0] == '.' || pattern[0] == *at))
            at++;
        for (;; at--) {
            const char *end = match_here(at, pattern + 2);
            if (end || at == from)
                return end;
        }
    }
    if (*at && (*pattern == '.' || *pattern == *at))
        return match_here(at + 1, pattern + 1);
    return NULL;
}

int match_find(const char *line, const char *pattern, int *length) {
    for (int i = 0;; i++) {
        const char *end = match_here(line + i, pattern);
        if (end) {
            *length = (int)(end - (line + i));
            return i;
        }
        if (line[i] == '\0')
            return -1;
    }
}
