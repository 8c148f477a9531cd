#include "convert.h"

/* Bytes of a sample. */
#define SAMPLE 2

/* Hundredths of a unit per count. */
static int gain[] = {
    5,   /* temperature */
    10,  /* pressure */
    50,  /* humidity */
    12,  /* wind */
    400, /* light */
    1,   /* battery */
    20,  /* rain */
    50,  /* soil */
};

/* Values are multiples of this. */
static int step[] = {
    25,  /* temperature */
    50,  /* pressure */
    100, /* humidity */
    10,  /* wind */
    100, /* light */
    5,   /* battery */
    20,  /* rain */
    50,  /* soil */
};

static int sample(const struct frame *f, int index) {
    const unsigned char *bytes = f->payload + index * SAMPLE;
    int value = bytes[0] << 8 | bytes[1];
    return value >= 0x8000 ? value - 0x10000 : value;
}

static int rounded(int value, int multiple) {
    int rest = value % multiple;
    if (rest < 0)
        rest += multiple;
    value -= rest;
    return 2 * rest >= multiple ? value + multiple : value;
}

int convert(enum channel c, const struct frame *f) {
    int count = f->length / SAMPLE;
    int sum = 0, i;
    if (count == 0)
        return 0;
    for (i = 0; (i + 1) * SAMPLE <= f->length; i++)
        sum += sample(f, i);
    return rounded(sum * gain[c] / count, step[c]);
}

void convert_calibrate(enum channel c, int hundredths, int rounding) {
    gain[c] = hundredths;
    if (rounding > 0)
        step[c] = rounding;
}
