/* Frames of telemetry: a kind, a counter, and fields as a table says. */
#ifndef TELEM_H
#define TELEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FRAME_SIZE = 24, MOST_FRAMES = 64, HEAD_SIZE = 2 };

enum kind { ENGINE = 0x10, POSITION = 0x20, POWER = 0x30 };

struct frame {
    uint8_t bytes[FRAME_SIZE];
    int size;
    int line; /* where it is in the file */
};

/* How a value is found in a frame, and which values are usual. */
struct field {
    const char *name;
    int offset;
    int width;
    int is_signed;
    int divisor;   /* the value is in so many parts of the unit */
    const char *unit;
    double low, high;
};

struct group {
    enum kind kind;
    const char *name;
    const struct field *fields;
    int count;
};

extern const struct group engine_group;
extern const struct group position_group;
extern const struct group power_group;

/* Reads frames of hexadecimal digits, one to a line. Returns how many, or -1. */
int load_frames(struct frame *frames, FILE *in);

const struct group *find_group(int kind);
/* Returns 0 if the field is not in the frame. */
int field_value(const struct frame *frame, const struct field *field, double *value);
void print_frame(const struct frame *frame);
void print_summary(const struct frame *frames, int count);

/* Prints what is wrong with a frame. Returns how much that is. */
int check_frame(const struct frame *frame);
int check_counters(const struct frame *frames, int count);

#endif
