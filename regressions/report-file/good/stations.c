/* Writes a report on the readings of weather stations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATIONS 10
#define READINGS 100

struct station {
    char name[20];
    double readings[READINGS];
    int count;
};

static struct station stations[STATIONS];
static int used;

static struct station *station_named(const char *name) {
    for (int i = 0; i < used; i++)
        if (strcmp(stations[i].name, name) == 0)
            return &stations[i];
    if (used == STATIONS)
        return NULL;
    strcpy(stations[used].name, name);
    return &stations[used++];
}

static double average(const struct station *station) {
    double sum = 0;
    for (int i = 0; i < station->count; i++)
        sum += station->readings[i];
    return sum / station->count;
}

static double spread(const struct station *station) {
    double least = station->readings[0];
    double most = station->readings[0];
    for (int k = 1; k < station->count; k++) {
        least = fmin(least, station->readings[k]);
        most = fmax(most, station->readings[k]);
    }
    return most - least;
}

static int load(const char *path) {
    FILE *file = fopen(path, "r");
    char name[20];
    double value;
    int lines = 0;
    if (file == NULL)
        return -1;
    while (fscanf(file, "%19s %lf", name, &value) == 2) {
        struct station *station = station_named(name);
        if (station && station->count < READINGS)
            station->readings[station->count++] = value;
        lines++;
    }
    fclose(file);
    return lines;
}

int main(int argc, char **argv) {
    FILE *out;
    int lines;
    if (argc != 3) {
        fprintf(stderr, "usage: stations READINGS REPORT\n");
        return 2;
    }
    lines = load(argv[1]);
    if (lines < 0) {
        perror(argv[1]);
        return 1;
    }
    out = fopen(argv[2], "w");
    if (out == NULL) {
        perror(argv[2]);
        return 1;
    }
    fprintf(out, "station     count  average  spread\n");
    for (int i = 0; i < used; i++)
        fprintf(out, "%-10s %6d %8.2f %7.2f\n", stations[i].name, stations[i].count,
                average(&stations[i]), spread(&stations[i]));
    fclose(out);
    printf("%d readings\n", lines);
    return 0;
}
