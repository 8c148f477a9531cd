#include "url.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
    return text ? strdup(text) : NULL;
}

void url_remove_dots(char *path) {
    char *start = path, *to = path, *from = path;
    while (*from) {
        if (strncmp(from, "/./", 3) == 0) {
            from += 2;
        } else if (strcmp(from, "/.") == 0) {
            *to++ = '/';
            break;
        } else if (strncmp(from, "/../", 4) == 0 || strcmp(from, "/..") == 0) {
            int last = from[3] == '\0';
            while (to > start && *--to != '/')
                ;
            from += 3;
            if (last) {
                *to++ = '/';
                break;
            }
        } else {
            do
                *to++ = *from++;
            while (*from && *from != '/');
        }
    }
    *to = '\0';
}

/* The path of the reference in the folder of the base. */
static char *merge(const struct url *base, const char *path) {
    const char *slash = strrchr(base->path, '/');
    size_t folder = slash ? (size_t)(slash - base->path) + 1 : 0;
    int rooted = base->host && base->path[0] == '\0';
    char *result = malloc(folder + (size_t)rooted + strlen(path) + 1);
    memcpy(result, base->path, folder);
    if (rooted)
        result[folder++] = '/';
    strcpy(result + folder, path);
    return result;
}

void url_resolve(struct url *result, const struct url *base, const struct url *reference) {
    const struct url *authority = reference;
    memset(result, 0, sizeof *result);
    result->scheme = copy(reference->scheme);
    result->path = copy(reference->path);
    result->query = copy(reference->query);
    if (reference->scheme == NULL) {
        result->scheme = copy(base->scheme);
        if (reference->host == NULL) {
            authority = base;
            if (reference->path[0] == '\0') {
                free(result->path);
                result->path = copy(base->path);
                if (reference->query == NULL)
                    result->query = copy(base->query);
            } else if (reference->path[0] != '/') {
                free(result->path);
                result->path = merge(base, reference->path);
            }
        }
    }
    url_remove_dots(result->path);
    result->user = copy(authority->user);
    result->host = copy(authority->host);
    result->port = authority->port;
    result->fragment = copy(reference->fragment);
}
