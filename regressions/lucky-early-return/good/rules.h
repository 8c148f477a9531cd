#ifndef RULES_H
#define RULES_H

#include <stdio.h>

#define MAX_TARGETS 64
#define MAX_NEEDS 8
#define NAME_ROOM 32

/* Something that is built, or a source. */
struct target {
    char name[NAME_ROOM];
    long stamp; /* when it was made, 0: it is not there */
    int needs[MAX_NEEDS];
    int need_count;
    int is_source;
};

struct rules {
    struct target targets[MAX_TARGETS];
    int count;
    int problems;
};

/* Reads lines `name stamp: need need ...` and `name stamp` (a source). */
void rules_read(struct rules *r, FILE *in);

/* Number of a target, or -1. */
int rules_find(const struct rules *r, const char *name);

#endif
