/* Picks the paths of a listing that the rules of a file do not ignore. */
#ifndef PICK_H
#define PICK_H

#include <stddef.h>
#include <stdio.h>

/* ---- pattern.c */

/* `*` and `?` stop at slashes, `**` does not; sets in brackets. */
int pattern_matches(const char *pattern, const char *text);
int pattern_has_slash(const char *pattern);

/* ---- ignore.c */

struct ignore_rule {
    char *pattern;
    int negated;   /* `!` before it: not ignored after all */
    int anchored;  /* a slash in it: matched against the whole path */
    int folder;    /* a slash behind it: folders only */
    int hits;
};

struct ignore_rules {
    struct ignore_rule *all;
    int count;
};

int ignore_load(struct ignore_rules *rules, const char *path);
/* Whether a path or a folder above it is ignored. */
int ignore_path(struct ignore_rules *rules, const char *path);
void ignore_free(struct ignore_rules *rules);

/* ---- listing.c */

struct listing {
    char **paths;
    int count;
    int room;
};

int listing_load(struct listing *listing, const char *path);
void listing_sort(struct listing *listing);
void listing_free(struct listing *listing);

/* ---- posix.c, win32/win32.c, macos/macos.c: what differs between systems */

/* The separators of this system become slashes. */
void system_slashes(char *path);
int system_fold_case(void);

#endif
