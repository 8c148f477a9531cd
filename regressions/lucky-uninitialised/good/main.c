#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "layout.h"
#include "reader.h"

int main(int argc, char **argv) {
    struct document doc;
    struct buffer out;
    FILE *in = stdin;
    int problems;

    if (argc > 2) {
        fprintf(stderr, "usage: typeset [FILE]\n");
        return 2;
    }
    if (argc == 2 && strcmp(argv[1], "-") != 0) {
        in = fopen(argv[1], "r");
        if (!in) {
            perror(argv[1]);
            return 2;
        }
    }
    document_read(&doc, in);
    if (in != stdin)
        fclose(in);
    buffer_init(&out);
    layout(&doc, &out);
    if (out.text)
        fputs(out.text, stdout);
    problems = doc.problems;
    buffer_free(&out);
    document_free(&doc);
    return problems ? 1 : 0;
}
