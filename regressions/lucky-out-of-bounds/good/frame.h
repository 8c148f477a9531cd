#ifndef FRAME_H
#define FRAME_H

#define MAX_PAYLOAD 32

/* What comes over the wire: 7E length station code payload checksum,
   each a byte; the length is that of the payload. */
struct frame {
    int station;
    int code;
    int length;
    unsigned char payload[MAX_PAYLOAD];
};

enum frame_error { FRAME_OK, FRAME_SHORT, FRAME_START, FRAME_LENGTH, FRAME_CHECKSUM };

/* Reads a frame that is written in hexadecimal digits. */
enum frame_error frame_parse(struct frame *f, const char *text);

const char *frame_error_name(enum frame_error error);

#endif
