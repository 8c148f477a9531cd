#include <stdio.h>

#include "parser.h"
#include "screen.h"

static struct screen screen;

/* Scripts spell the escape character `\e`, and a backslash `\\`. */
static int next_character(FILE *in) {
    int c = getc(in);
    if (c != '\\')
        return c;
    c = getc(in);
    return c == 'e' ? '\033' : c;
}

int main(int argc, char **argv) {
    struct parser parser;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    int c;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    screen_reset(&screen);
    parser_init(&parser);
    while ((c = next_character(in)) != EOF)
        parser_feed(&parser, &screen, (char)c);
    screen_print(&screen, stdout);
    if (parser.unknown)
        printf("unknown %d\n", parser.unknown);
    if (in != stdin)
        fclose(in);
    return 0;
}
