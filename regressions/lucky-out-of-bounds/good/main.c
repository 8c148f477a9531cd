#include <stdio.h>
#include <string.h>

#include "channel.h"
#include "convert.h"
#include "frame.h"
#include "station.h"

static struct stations stations;

/* `gain NAME HUNDREDTHS STEP` */
static int calibrate(const char *line) {
    char name[32];
    int hundredths, rounding;
    enum channel c;
    if (sscanf(line, "gain %31s %d %d", name, &hundredths, &rounding) != 3)
        return 0;
    c = channel_named(name);
    if (c == CHANNELS)
        return 0;
    convert_calibrate(c, hundredths, rounding);
    return 1;
}

static int receive(const char *line) {
    struct frame frame;
    enum frame_error error = frame_parse(&frame, line);
    enum channel c;
    if (error != FRAME_OK) {
        fprintf(stderr, "telemetry: %s: %s\n", frame_error_name(error), line);
        return 0;
    }
    c = channel_of_code(frame.code);
    if (c == CHANNELS) {
        fprintf(stderr, "telemetry: unknown channel %02x\n", (unsigned)frame.code);
        return 0;
    }
    return stations_note(&stations, frame.station, c, convert(c, &frame));
}

int main(int argc, char **argv) {
    char line[256];
    int wrong = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        wrong += strncmp(line, "gain", 4) == 0 ? !calibrate(line) : !receive(line);
    }
    stations_print(&stations, stdout);
    if (in != stdin)
        fclose(in);
    return wrong ? 1 : 0;
}
