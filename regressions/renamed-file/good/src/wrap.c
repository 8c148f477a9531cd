/* Wraps text from standard input at a width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

int main(int argc, char **argv) {
    static struct line line;
    char word[100];
    int limit = argc > 1 ? atoi(argv[1]) : 72;
    int number = 1;

    while (scanf("%99s", word) == 1) {
        int length = (int)strlen(word);
        if (!line_fits(&line, length, limit))
            line_print(&line, number++);
        line_add(&line, word, length);
    }
    line_print(&line, number);
    return 0;
}
