/* Mixes a few tones in fixed point and prints a fingerprint of the sound. */
#include <stdint.h>
#include <stdio.h>

#define LENGTH 64
#define SHIFT 7

struct track {
    int period;
    int gain; /* percent */
};

static const struct track tracks[] = {{16, 80}, {10, 50}, {7, 35}};

#define TRACKS ((int)(sizeof tracks / sizeof tracks[0]))

/* A triangle between -1000 and 1000. */
static int32_t triangle(int at, int period) {
    int phase = at % period;
    int half = period / 2;
    int height = phase < half ? phase : period - phase;
    return height * 2000 / half - 1000;
}

static int32_t fixed_gain(int gain) {
    return (gain * 128) / 100;
}

static int32_t scaled(int32_t sample, int gain) {
    int32_t factor = fixed_gain(gain);
    return sample * factor / (1 << SHIFT);
}

static int32_t clipped(int32_t sample) {
    if (sample > 32767)
        return 32767;
    if (sample < -32768)
        return -32768;
    return sample;
}

static uint32_t fingerprint(const int16_t *sound, int length) {
    uint32_t sum = 2166136261u;
    for (int i = 0; i < length; i++)
        sum = (sum ^ (uint16_t)sound[i]) * 16777619u;
    return sum;
}

int main(void) {
    int16_t sound[LENGTH];
    int32_t peak = 0;
    for (int i = 0; i < LENGTH; i++) {
        int32_t sum = 0;
        for (int t = 0; t < TRACKS; t++)
            sum += scaled(triangle(i, tracks[t].period), tracks[t].gain);
        sound[i] = (int16_t)clipped(sum);
        if (sum > peak)
            peak = sum;
    }
    printf("%d tracks, %d samples\n", TRACKS, LENGTH);
    printf("fingerprint %08x\n", fingerprint(sound, LENGTH));
    return 0;
}
