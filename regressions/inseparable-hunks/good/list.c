#include "archive.h"

#include <stdio.h>

static const char *kind_name(int kind) {
    switch (kind) {
    case KIND_FILE: return "file";
    case KIND_FOLDER: return "folder";
    default: return "note";
    }
}

static void print_zone(int zone) {
    int minutes = zone * 15;
    char sign = '+';
    if (minutes < 0) {
        minutes = -minutes;
        sign = '-';
    }
    printf("%c%02d%02d", sign, minutes / 60, minutes % 60);
}

static void print_owner(long owner) {
    if (owner < 0)
        printf("%6s", "-");
    else
        printf("%6ld", owner);
}

static void print_link(const struct archive *archive, const struct entry *entry) {
    if (entry->link < 0)
        return;
    if (entry->link < archive->count)
        printf(" -> %s", archive->entries[entry->link].name);
    else
        printf(" -> entry %ld", entry->link);
}

void archive_list(const struct archive *archive, int all) {
    for (int i = 0; i < archive->count; i++) {
        const struct entry *entry = &archive->entries[i];
        if ((entry->flags & FLAG_HIDDEN) && !all)
            continue;
        printf("%-6s ", kind_name(entry->kind));
        print_owner(entry->owner);
        printf(" %8ld %6ld ", entry->size, entry->day);
        print_zone(entry->zone);
        printf(" %*s%s", (int)(2 * entry->depth), "", entry->name);
        print_link(archive, entry);
        putchar('\n');
    }
}

void archive_totals(const struct archive *archive) {
    long size = 0;
    int files = 0;
    for (int i = 0; i < archive->count; i++) {
        size += archive->entries[i].size;
        files += archive->entries[i].kind == KIND_FILE;
    }
    printf("%d entries, %d files, %ld bytes\n", archive->count, files, size);
}
