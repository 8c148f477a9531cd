#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *program;
    char directory[256];
    char message[300];
    const char *last;
    int n;
};

static struct options options;

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    options.program = argv[0];
    options.last = slash ? slash + 1 : argv[0];
    if (!getcwd(options.directory, sizeof options.directory))
        return 1;
    snprintf(options.message, sizeof options.message, "usage: %s FILE", argv[0]);
    puts(options.message);
    fprintf(stderr, "%s: %s\n", options.last, getenv("PWD") ? "here" : "nowhere");
    options.n = argc > 1 ? atoi(argv[1]) : 0;
    return 0;
}
