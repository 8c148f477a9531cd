#include "url.h"

#include <stdlib.h>
#include <string.h>

/* In queries, a plus is a blank. */
static char *unescape_part(const char *from, size_t length) {
    char *part = malloc(length + 1), *result;
    memcpy(part, from, length);
    part[length] = '\0';
    for (char *p = part; *p; p++)
        if (*p == '+')
            *p = ' ';
    result = url_unescape(part);
    free(part);
    return result;
}

char *url_parameter(const struct url *url, const char *name) {
    const char *p = url->query;
    while (p && *p) {
        size_t length = strcspn(p, "&");
        size_t key_length = strcspn(p, "=&");
        char *key = unescape_part(p, key_length);
        int same = key && strcmp(key, name) == 0;
        free(key);
        if (same)
            return p[key_length] == '=' ? unescape_part(p + key_length + 1, length - key_length - 1)
                                        : strdup("");
        p += length;
        if (*p == '&')
            p++;
    }
    return NULL;
}

int url_parameter_count(const struct url *url) {
    int count = 0;
    for (const char *p = url->query; p && *p;) {
        size_t length = strcspn(p, "&");
        if (length > 0)
            count++;
        p += length;
        if (*p == '&')
            p++;
    }
    return count;
}
