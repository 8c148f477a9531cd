/* Formats JSON documents. */
#include "json.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load(const char *path, struct buffer *text) {
    FILE *in = fopen(path, "r");
    int c;
    if (in == NULL)
        return -1;
    while ((c = getc(in)) != EOF)
        buffer_put(text, (char)c);
    buffer_put(text, '\0');
    fclose(in);
    return 0;
}

static int usage(void) {
    fprintf(stderr, "usage: jfmt [-q] [-s STEP] [-w WIDTH] FILE\n");
    return 2;
}

int main(int argc, char **argv) {
    struct options options = { 2, 40, 64 };
    struct buffer text = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    const char *path = NULL;
    int status;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-q") == 0)
            level = 0;
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            options.step = atoi(argv[++i]);
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            options.width = atoi(argv[++i]);
        else if (path == NULL)
            path = argv[i];
        else
            return usage();
    }
    if (path == NULL)
        return usage();
    if (load(path, &text) != 0) {
        perror(path);
        return 2;
    }
    status = format(text.text, &options, &out);
    fwrite(out.text, 1, out.size, stdout);
    if (status != 0)
        putchar('\n');
    buffer_free(&text);
    buffer_free(&out);
    return status != 0;
}
