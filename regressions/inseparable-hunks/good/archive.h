/* An archive: a head, entries, the bodies of the entries, and a check.
 *
 *   head    "AR" version(1) entries(1) first name(2) reserved(2)
 *   entry   kind(1) flags(1) owner(2) size(4) zone(1) day(3) name(2) reserved(2)
 *           and, if it is extended, link(2) depth(2)
 *   check   sum(2) over everything before it
 */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include "bytes.h"

enum { KIND_FILE = 1, KIND_FOLDER = 2, KIND_NOTE = 3 };
enum { FLAG_EXTENDED = 1, FLAG_HIDDEN = 2 };
enum { HEAD_SIZE = 8, ENTRY_SIZE = 16, EXTENSION_SIZE = 4, CHECK_SIZE = 2 };
enum { MOST_ENTRIES = 64, NAME_SIZE = 32 };

struct entry {
    int kind, flags;
    long owner; /* -1: nobody */
    long size;
    int zone; /* quarters of an hour east of Greenwich */
    long day;
    long link; /* number of another entry, -1 if there is none */
    long depth;
    char name[NAME_SIZE];
};

struct archive {
    int version, count;
    long names; /* where the names begin */
    struct entry entries[MOST_ENTRIES];
    const char *error;
};

/* Each returns 0, or -1 with the reason in archive->error. */
int archive_parse(struct archive *archive, const struct bytes *bytes);
int archive_verify(struct archive *archive, const struct bytes *bytes);

/* Copies the name at an offset into a buffer of NAME_SIZE. */
int name_at(const struct archive *archive, const struct bytes *bytes, long at, char *name);

void archive_list(const struct archive *archive, int all);
void archive_totals(const struct archive *archive);

#endif
