/* Names are kept apart from the entries: a length, and as many bytes. */
#include "archive.h"

#include <string.h>

int name_at(const struct archive *archive, const struct bytes *bytes, long at, char *name) {
    size_t from = (size_t)(archive->names + at);
    long length;

    if (at < 0 || archive->names < HEAD_SIZE)
        return -1;
    if (from + 1 > bytes->size)
        return -1;
    length = field(bytes, from, 1);
    if (length <= 0 || length >= NAME_SIZE || from + 1 + (size_t)length > bytes->size)
        return -1;
    memcpy(name, bytes->data + from + 1, (size_t)length);
    name[length] = '\0';
    return 0;
}
