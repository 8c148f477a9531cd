#include "archive.h"

int archive_verify(struct archive *archive, const struct bytes *bytes) {
    size_t end = bytes->size - CHECK_SIZE;
    unsigned sum = bytes_sum(bytes, 0, end);

    if ((field(bytes, end, 2) & 0xffff) != (long)sum) {
        archive->error = "the check does not fit";
        return -1;
    }
    for (int i = 0; i < archive->count; i++) {
        const struct entry *entry = &archive->entries[i];
        if (entry->link >= archive->count && entry->kind == KIND_FOLDER) {
            archive->error = "a folder is linked to nothing";
            return -1;
        }
    }
    return 0;
}
