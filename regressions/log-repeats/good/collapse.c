/* Prints a log without repeats: the message counts, not the time before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 256

struct last {
    char message[LINE];
    int repeats;
    long total;
};

static const char *message_of(const char *line) {
    const char *blank = strchr(line, ' ');
    return blank ? blank + 1 : line;
}

static int same(const struct last *last, const char *line) {
    return last->total > 0 && strcmp(last->message, message_of(line)) == 0;
}

static void remember(struct last *last, const char *line) {
    snprintf(last->message, sizeof last->message, "%s", message_of(line));
    last->repeats = 0;
    last->total++;
}

int main(int argc, char **argv) {
    static struct last last;
    char line[LINE];
    int most = 0;
    int verbose = argc > 1 && strcmp(argv[1], "-v") == 0;

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (same(&last, line)) {
            last.repeats++;
            if (last.repeats > most)
                most = last.repeats;
            continue;
        }
        remember(&last, line);
        puts(line);
    }
    if (verbose)
        printf("at most %d repeats\n", most);
    return most > 100;
}
