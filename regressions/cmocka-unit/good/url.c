#include "url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *from, size_t length) {
    char *result = malloc(length + 1);
    memcpy(result, from, length);
    result[length] = '\0';
    return result;
}

int url_default_port(const char *scheme) {
    static const struct {
        const char *scheme;
        int port;
    } known[] = {{"http", 80}, {"https", 443}, {"ftp", 21}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].scheme, scheme) == 0)
            return known[i].port;
    return -1;
}

static const char *scheme_end(const char *text) {
    if (!isalpha((unsigned char)*text))
        return NULL;
    while (isalnum((unsigned char)*text) || *text == '+' || *text == '-' || *text == '.')
        text++;
    return *text == ':' ? text : NULL;
}

/* user@host:port, with brackets around a host that has colons. */
static int parse_authority(struct url *url, const char *text, size_t length) {
    const char *end = text + length, *p;
    p = memchr(text, '@', length);
    if (p) {
        url->user = copy(text, (size_t)(p - text));
        text = p + 1;
    }
    if (*text == '[' && text < end) {
        p = memchr(text, ']', (size_t)(end - text));
        if (p == NULL)
            return 0;
        p++;
    } else {
        p = memchr(text, ':', (size_t)(end - text));
        if (p == NULL)
            p = end;
    }
    url->host = copy(text, (size_t)(p - text));
    if (p == end)
        return 1;
    if (*p++ != ':')
        return 0;
    if (p == end)
        return 1;
    url->port = 0;
    for (; p < end; p++) {
        if (!isdigit((unsigned char)*p))
            return 0;
        url->port = url->port * 10 + (*p - '0');
        if (url->port > 65535)
            return 0;
    }
    return 1;
}

int url_parse(struct url *url, const char *text) {
    const char *p = scheme_end(text);
    size_t length;
    memset(url, 0, sizeof *url);
    url->port = -1;
    if (p) {
        url->scheme = copy(text, (size_t)(p - text));
        text = p + 1;
    }
    if (strncmp(text, "//", 2) == 0) {
        text += 2;
        length = strcspn(text, "/?#");
        if (!parse_authority(url, text, length)) {
            url_free(url);
            return 0;
        }
        text += length;
    }
    length = strcspn(text, "?#");
    url->path = copy(text, length);
    text += length;
    if (*text == '?') {
        length = strcspn(++text, "#");
        url->query = copy(text, length);
        text += length;
    }
    if (*text == '#')
        url->fragment = copy(text + 1, strlen(text + 1));
    return 1;
}

static void lower(char *text) {
    for (; text && *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

void url_normalise(struct url *url) {
    lower(url->scheme);
    lower(url->host);
    if (url->scheme && url->port == url_default_port(url->scheme))
        url->port = -1;
    url_tidy_escapes(url->path);
    url_remove_dots(url->path);
    if (url->host && url->path[0] == '\0') {
        free(url->path);
        url->path = copy("/", 1);
    }
}

static void add(char **text, const char *before, const char *part) {
    size_t length = *text ? strlen(*text) : 0;
    *text = realloc(*text, length + strlen(before) + strlen(part) + 1);
    strcpy(*text + length, before);
    strcat(*text + length, part);
}

char *url_text(const struct url *url) {
    char *text = copy("", 0);
    char port[16];
    if (url->scheme) {
        add(&text, "", url->scheme);
        add(&text, ":", "");
    }
    if (url->host) {
        add(&text, "//", "");
        if (url->user) {
            add(&text, "", url->user);
            add(&text, "@", "");
        }
        add(&text, "", url->host);
        if (url->port >= 0) {
            snprintf(port, sizeof port, "%d", url->port);
            add(&text, ":", port);
        }
    }
    add(&text, "", url->path);
    if (url->query)
        add(&text, "?", url->query);
    if (url->fragment)
        add(&text, "#", url->fragment);
    return text;
}

void url_free(struct url *url) {
    free(url->scheme);
    free(url->user);
    free(url->host);
    free(url->path);
    free(url->query);
    free(url->fragment);
    memset(url, 0, sizeof *url);
}
