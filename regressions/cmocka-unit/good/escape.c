#include "url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that `%xy` at `text` stands for, -1 if it is none. */
static int escaped(const char *text) {
    if (text[0] != '%' || digit(text[1]) < 0 || digit(text[2]) < 0)
        return -1;
    return digit(text[1]) * 16 + digit(text[2]);
}

static int is_unreserved(int c) {
    return isalnum(c) || (c && strchr("-._~", c));
}

char *url_unescape(const char *text) {
    char *result = malloc(strlen(text) + 1), *to = result;
    while (*text) {
        if (*text == '%') {
            int byte = escaped(text);
            if (byte < 0) {
                free(result);
                return NULL;
            }
            *to++ = (char)byte;
            text += 3;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
    return result;
}

char *url_escape(const char *text, const char *keep) {
    static const char digits[] = "0123456789ABCDEF";
    char *result = malloc(strlen(text) * 3 + 1), *to = result;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_unreserved(c) || strchr(keep, c)) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    *to = '\0';
    return result;
}

void url_tidy_escapes(char *text) {
    char *to = text;
    while (*text) {
        int byte = escaped(text);
        if (byte < 0) {
            *to++ = *text++;
        } else if (is_unreserved(byte)) {
            *to++ = (char)byte;
            text += 3;
        } else {
            *to++ = '%';
            *to++ = (char)toupper((unsigned char)text[1]);
            *to++ = (char)toupper((unsigned char)text[2]);
            text += 3;
        }
    }
    *to = '\0';
}
