/* Addresses of the web: their parts, and what a relative one means. */
#ifndef URL_H
#define URL_H

#include <stddef.h>

struct url {
    char *scheme;   /* NULL if it has none, as all others */
    char *user;
    char *host;
    int port;       /* -1 if it has none */
    char *path;     /* never NULL */
    char *query;
    char *fragment;
};

/* ---- url.c */

/* 0 if the text is not an address. */
int url_parse(struct url *url, const char *text);
/* The address as a text, to be freed. */
char *url_text(const struct url *url);
void url_normalise(struct url *url);
void url_free(struct url *url);
int url_default_port(const char *scheme);

/* ---- escape.c */

/* `%41` and the like become bytes; 0 if an escape is broken. */
char *url_unescape(const char *text);
char *url_escape(const char *text, const char *keep);
/* Escapes in capital letters, and none for what needs none. */
void url_tidy_escapes(char *text);

/* ---- resolve.c */

/* What `reference` means on the page `base`. */
void url_resolve(struct url *result, const struct url *base, const struct url *reference);
/* Takes `.` and `..` out of a path. */
void url_remove_dots(char *path);

/* ---- query.c */

/* The value of a parameter, unescaped, to be freed; NULL if there is none. */
char *url_parameter(const struct url *url, const char *name);
int url_parameter_count(const struct url *url);

#endif
