#include "frame.h"

#include <ctype.h>
#include <string.h>

#define START 0x7e
#define OVERHEAD 5

static int digit(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = toupper(c);
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the number of bytes. */
static int from_hex(const char *text, unsigned char *bytes, int room) {
    int count = 0;
    while (*text && count < room) {
        int high, low;
        if (isspace((unsigned char)*text)) {
            text++;
            continue;
        }
        high = digit((unsigned char)text[0]);
        low = high < 0 ? -1 : digit((unsigned char)text[1]);
        if (low < 0)
            break;
        bytes[count++] = (unsigned char)(high * 16 + low);
        text += 2;
    }
    return count;
}

static int checksum(const unsigned char *bytes, int count) {
    int sum = 0;
    while (count-- > 0)
        sum = (sum + *bytes++) & 0xff;
    return sum;
}

enum frame_error frame_parse(struct frame *f, const char *text) {
    unsigned char bytes[MAX_PAYLOAD + OVERHEAD];
    int count = from_hex(text, bytes, (int)sizeof bytes);
    if (count < OVERHEAD)
        return FRAME_SHORT;
    if (bytes[0] != START)
        return FRAME_START;
    if (bytes[1] + OVERHEAD != count)
        return FRAME_LENGTH;
    if (checksum(bytes + 1, count - 2) != bytes[count - 1])
        return FRAME_CHECKSUM;
    f->length = bytes[1];
    f->station = bytes[2];
    f->code = bytes[3];
    memcpy(f->payload, bytes + 4, (size_t)f->length);
    return FRAME_OK;
}

const char *frame_error_name(enum frame_error error) {
    static const char *const names[] = {"ok", "too short", "no start", "wrong length", "wrong checksum"};
    return names[error];
}
