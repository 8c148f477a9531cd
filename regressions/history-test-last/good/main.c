/* Prints when lines of a crontab are due. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "next.h"

static void usage(void) {
    fprintf(stderr, "usage: cronnext START COUNT SCHEDULE...\n");
    exit(2);
}

static void gap(long minutes) {
    if (minutes >= 24 * 60)
        printf("  +%ldd%02ldh", minutes / (24 * 60), minutes / 60 % 24);
    else
        printf("  +%ldh%02ldm", minutes / 60, minutes % 60);
}

static int show(const char *text, const struct moment *start, int count) {
    struct schedule schedule;
    struct moment moment = *start, before;
    const char *problem = "";
    if (!schedule_parse(&schedule, text, &problem)) {
        fprintf(stderr, "cronnext: %s: %s\n", text, problem);
        return 0;
    }
    printf("%s\n", text);
    for (int i = 0; i < count; i++) {
        before = moment;
        if (!next_due(&schedule, &moment)) {
            printf("  never\n");
            break;
        }
        printf("  ");
        moment_print(&moment);
        gap(moment_between(&before, &moment));
        printf("\n");
    }
    return 1;
}

int main(int argc, char **argv) {
    struct moment start;
    int count, fine = 1;
    if (argc < 4)
        usage();
    if (!moment_parse(&start, argv[1])) {
        fprintf(stderr, "cronnext: %s is not a moment\n", argv[1]);
        return 2;
    }
    count = atoi(argv[2]);
    for (int i = 3; i < argc; i++)
        fine &= show(argv[i], &start, count);
    return fine ? 0 : 1;
}
