#include "lines.h"

#include <string.h>

void lines_set(struct buffer *out, const char *text, int column, const struct frame *frame) {
    int at = column;
    int left = frame->left;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > left && at + 1 + length > frame->width) {
            buffer_puts(out, "\n");
            buffer_fill(out, ' ', left);
            at = left;
        } else if (at > left) {
            buffer_puts(out, " ");
            at++;
        }
        buffer_add(out, text, (size_t)length);
        at += length;
        text += length;
        if (*text == ' ')
            text++;
    }
    buffer_puts(out, "\n");
}
