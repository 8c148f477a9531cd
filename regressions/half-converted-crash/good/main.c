#include <stdio.h>

#include "command.h"

static struct session session;

int main(int argc, char **argv) {
    char line[256];
    int wrong = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    session_open(&session, stdout);
    while (fgets(line, sizeof line, in))
        wrong += !session_obey(&session, line);
    session_close(&session);
    if (in != stdin)
        fclose(in);
    return wrong ? 1 : 0;
}
