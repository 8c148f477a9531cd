#include <stdio.h>
#include <stdlib.h>

/* Reads one temperature per line and returns how many there were. */
static int read_all(FILE *file, double *readings, int room) {
    char line[64];
    int count = 0;
    while (count < room && fgets(line, sizeof line, file)) {
        readings[count++] = strtod(line, NULL);
    }
    return count;
}

static double average(const double *readings, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += readings[i];
    }
    return count ? (double)total / count : 0;
}

int main(int argc, char **argv) {
    double readings[100];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!file) {
        perror(argv[1]);
        return 1;
    }
    int count = read_all(file, readings, 100);
    printf("%d readings, average %.2f\n", count, average(readings, count));
    return 0;
}
