#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "fixed.h"
#include "show.h"

static struct board board;

static void usage(void) {
    fprintf(stderr, "usage: levels [-w SAMPLES] [-b COLUMNS] [-s LEVEL] [-t] < READINGS\n");
    exit(2);
}

int main(int argc, char **argv) {
    struct view view = {0, 0, 100 * UNIT};
    int window = 4;
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-t") == 0)
            view.trends = 1;
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            window = atoi(argv[++i]);
        else if (strcmp(argv[i], "-b") == 0 && i + 1 < argc)
            view.bars = atoi(argv[++i]);
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
            if (!fixed_parse(argv[++i], &view.scale))
                usage();
        } else
            usage();
    }
    board_init(&board, window);
    board_read(&board, stdin);
    show_board(&board, &view, stdout);
    if (board.problems)
        fprintf(stderr, "levels: %d lines not understood\n", board.problems);
    return board.problems ? 1 : 0;
}
