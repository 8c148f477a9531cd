#include "codec.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    struct buffer in = {0}, out = {0};
    const char *problem = NULL;
    int c;
    while ((c = getchar()) != EOF)
        buffer_add(&in, (uint8_t)c);
    if (argc > 1 && strcmp(argv[1], "-d") == 0)
        problem = expand(in.bytes, in.length, &out);
    else
        squeeze(in.bytes, in.length, &out);
    if (problem)
        fprintf(stderr, "squeeze: %s\n", problem);
    else
        fwrite(out.bytes, 1, out.length, stdout);
    buffer_free(&in);
    buffer_free(&out);
    return problem != NULL;
}
