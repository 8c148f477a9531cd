#include "telem.h"

#include <ctype.h>
#include <string.h>

static int digit(char c) {
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Reads the digits of a line. Returns -1 if they are odd or too many. */
static int read_frame(struct frame *frame, const char *text) {
    frame->size = 0;
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (*text == '\0')
            return 0;
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
            return -1;
        if (frame->size == FRAME_SIZE)
            return -1;
        frame->bytes[frame->size++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
        text += 2;
    }
}

int load_frames(struct frame *frames, FILE *in) {
    char line[160];
    int count = 0, number = 0;

    while (fgets(line, sizeof line, in)) {
        struct frame *frame = &frames[count];
        number++;
        line[strcspn(line, "#")] = '\0';
        if (count == MOST_FRAMES || read_frame(frame, line) != 0)
            return -1;
        if (frame->size == 0)
            continue;
        if (frame->size < HEAD_SIZE)
            return -1;
        frame->line = number;
        count++;
    }
    return count;
}
