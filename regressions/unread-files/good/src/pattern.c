#include "pick.h"

#include <ctype.h>
#include <string.h>

static int same(char a, char b) {
    if (system_fold_case())
        return tolower((unsigned char)a) == tolower((unsigned char)b);
    return a == b;
}

/* A set in brackets. The end of it, or NULL if the character is not in it. */
static const char *set(const char *p, char c) {
    int inverted = *p == '!' || *p == '^', found = 0, first = 1;
    if (inverted)
        p++;
    while (*p && (first || *p != ']')) {
        first = 0;
        if (p[1] == '-' && p[2] && p[2] != ']') {
            found |= c >= p[0] && c <= p[2];
            p += 3;
        } else {
            found |= same(*p, c);
            p++;
        }
    }
    if (*p != ']' || found == inverted)
        return NULL;
    return p + 1;
}

int pattern_matches(const char *pattern, const char *text) {
    for (;;) {
        switch (*pattern) {
        case '\0':
            return *text == '\0';
        case '*':
            if (pattern[1] == '*') {
                pattern += 2;
                /* Between slashes, no folder at all will do too. */
                if (*pattern == '/' && pattern_matches(pattern + 1, text))
                    return 1;
                do
                    if (pattern_matches(pattern, text))
                        return 1;
                while (*text++);
                return 0;
            }
            pattern++;
            for (;;) {
                if (pattern_matches(pattern, text))
                    return 1;
                if (*text == '\0' || *text == '/')
                    return 0;
                text++;
            }
        case '?':
            if (*text == '\0' || *text == '/')
                return 0;
            break;
        case '[':
            if (*text == '\0' || *text == '/')
                return 0;
            pattern = set(pattern + 1, *text++);
            if (pattern == NULL)
                return 0;
            continue;
        case '\\':
            if (pattern[1])
                pattern++;
            if (*pattern != *text)
                return 0;
            break;
        default:
            if (!same(*pattern, *text))
                return 0;
        }
        pattern++;
        text++;
    }
}

int pattern_has_slash(const char *pattern) {
    return strchr(pattern, '/') != NULL;
}
