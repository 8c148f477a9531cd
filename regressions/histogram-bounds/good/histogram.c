/* Draws how often readings fall into each of N bins of width one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct summary {
    long count;
    double sum;
    double least;
    double most;
};

static void take(struct summary *summary, double value) {
    if (summary->count == 0 || value < summary->least)
        summary->least = value;
    if (summary->count == 0 || value > summary->most)
        summary->most = value;
    summary->sum += value;
    summary->count++;
}

/* The bin for a value: what lies beyond either end goes into the bin at that end. */
static long bin_of(double value, long bins) {
    long bin = (long)floor(value);
    if (bin < 0)
        bin = 0;
    if (bin >= bins)
        bin = bins - 1;
    return bin;
}

static void draw(const long *counts, long bins) {
    long highest = 1;
    for (long i = 0; i < bins; i++)
        if (counts[i] > highest)
            highest = counts[i];
    for (long i = 0; i < bins; i++) {
        long stars = counts[i] * 20 / highest;
        printf("%3ld %3ld ", i, counts[i]);
        while (stars-- > 0)
            putchar('*');
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    struct summary summary = {0};
    double value;
    long bins = argc > 1 ? atol(argv[1]) : 10;
    long *counts = calloc((size_t)bins, sizeof *counts);

    if (counts == NULL)
        return 1;
    while (scanf("%lf", &value) == 1) {
        take(&summary, value);
        counts[bin_of(value, bins)]++;
    }
    draw(counts, bins);
    printf("%ld readings, least %.2f\n", summary.count, summary.least);
    free(counts);
    return 0;
}
