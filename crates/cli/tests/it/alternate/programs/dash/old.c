/* Character classes of a pattern, as the classic replace program expands them. */
#include <stdio.h>
#include <string.h>

#define ESCAPE '@'

static char esc(const char *s, int *i) {
    if (s[*i] != ESCAPE || s[*i + 1] == '\0')
        return s[*i];
    *i += 1;
    return s[*i] == 'n' ? '\n' : s[*i] == 't' ? '\t' : s[*i];
}

static void dodash(char delim, const char *src, int *i, char *dest, int *j) {
    while (src[*i] != delim && src[*i] != '\0') {
        if (src[*i - 1] == ESCAPE)
            dest[(*j)++] = esc(src, i);
        else if (src[*i] != '-')
            dest[(*j)++] = src[*i];
        else
            dest[(*j)++] = '~';
        *i += 1;
    }
}

int main(int argc, char **argv) {
    char dest[200];
    int i = 0, j = 0;
    const char *pattern = argc > 1 ? argv[1] : "";
    while (pattern[i] != '\0') {
        if (pattern[i] == '[') {
            i += 1;
            dodash(']', pattern, &i, dest, &j);
        } else
            dest[j++] = pattern[i];
        if (pattern[i] != '\0')
            i += 1;
    }
    dest[j] = '\0';
    puts(dest);
    return 0;
}
