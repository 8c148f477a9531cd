#include "archive.h"

#include <string.h>

static int fail(struct archive *archive, const char *why) {
    archive->error = why;
    return -1;
}

static int parse_head(struct archive *archive, const struct bytes *bytes) {
    if (bytes->size < HEAD_SIZE + CHECK_SIZE)
        return fail(archive, "too short for an archive");
    if (memcmp(bytes->data, "AR", 2) != 0)
        return fail(archive, "not an archive");
    archive->version = (int)field(bytes, 2, 1);
    archive->count = (int)field(bytes, 3, 1);
    archive->names = field(bytes, 4, 2);
    if (archive->version != 2)
        return fail(archive, "unknown version");
    if (archive->count < 0 || archive->count > MOST_ENTRIES)
        return fail(archive, "too many entries");
    return 0;
}

/* What follows an entry that has more to say. Returns its size, 0 if it is cut short. */
static size_t parse_extension(struct entry *entry, const struct bytes *bytes, size_t at) {
    if (bytes->size - at < EXTENSION_SIZE)
        return 0;
    entry->link = field(bytes, at, 2);
    entry->depth = field(bytes, at + 2, 2);
    return EXTENSION_SIZE;
}

/* Parses the entry at an offset; returns the offset behind it, 0 if there is no entry. */
static size_t parse_entry(struct entry *entry, const struct bytes *bytes, size_t at) {
    if (bytes->size - at < ENTRY_SIZE)
        return 0;
    entry->kind = (int)field(bytes, at, 1);
    entry->flags = (int)field(bytes, at + 1, 1);
    entry->owner = field(bytes, at + 2, 2);
    entry->size = field(bytes, at + 4, 4);
    entry->zone = (int)field(bytes, at + 8, 1);
    entry->day = field(bytes, at + 9, 3);
    entry->link = -1;
    entry->depth = 0;
    at += ENTRY_SIZE;
    if (entry->flags & FLAG_EXTENDED) {
        size_t size = parse_extension(entry, bytes, at);
        if (size == 0)
            return 0;
        at += size;
    }
    return at;
}

static int check_entry(const struct entry *entry) {
    if (entry->kind < KIND_FILE || entry->kind > KIND_NOTE)
        return 0;
    if (entry->size < 0)
        return 0;
    return entry->zone >= -48 && entry->zone <= 56;
}

int archive_parse(struct archive *archive, const struct bytes *bytes) {
    size_t at = HEAD_SIZE;

    memset(archive, 0, sizeof *archive);
    if (parse_head(archive, bytes) != 0)
        return -1;
    for (int i = 0; i < archive->count; i++) {
        struct entry *entry = &archive->entries[i];
        size_t next = parse_entry(entry, bytes, at);
        if (next == 0)
            return fail(archive, "an entry is cut short");
        if (!check_entry(entry))
            return fail(archive, "an entry is damaged");
        if (name_at(archive, bytes, field(bytes, at + 12, 2), entry->name) != 0)
            return fail(archive, "a name is missing");
        at = next;
    }
    return 0;
}
