/* Prints frames of telemetry, or what is wrong with them. */
#include "telem.h"

#include <string.h>

static int is(const char *word, const char *wanted) {
    return strcmp(word, wanted) == 0;
}

static int usage(void) {
    fprintf(stderr, "usage: telem print|summary|check FILE\n");
    return 2;
}

int main(int argc, char **argv) {
    static struct frame frames[MOST_FRAMES + 1];
    int count, problems = 0;
    FILE *in;

    if (argc != 3 || !(is(argv[1], "print") || is(argv[1], "summary") || is(argv[1], "check")))
        return usage();
    in = fopen(argv[2], "r");
    if (in == NULL) {
        perror(argv[2]);
        return 2;
    }
    count = load_frames(frames, in);
    fclose(in);
    if (count < 0) {
        fprintf(stderr, "telem: %s is damaged\n", argv[2]);
        return 2;
    }
    if (is(argv[1], "summary")) {
        print_summary(frames, count);
        return 0;
    }
    if (is(argv[1], "print")) {
        for (int i = 0; i < count; i++)
            print_frame(&frames[i]);
        return 0;
    }
    problems = check_counters(frames, count);
    for (int i = 0; i < count; i++)
        problems += check_frame(&frames[i]);
    printf("%d frames, %d problems\n", count, problems);
    return problems > 0;
}
