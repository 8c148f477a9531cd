/* Prints what links on a page mean. */
#include <stdio.h>
#include <stdlib.h>

#include "url.h"

int main(int argc, char **argv) {
    struct url base, reference, result;
    if (argc < 2 || !url_parse(&base, argv[1])) {
        fprintf(stderr, "usage: link BASE REFERENCE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        char *text;
        if (!url_parse(&reference, argv[i])) {
            printf("%s: not an address\n", argv[i]);
            continue;
        }
        url_resolve(&result, &base, &reference);
        url_normalise(&result);
        text = url_text(&result);
        printf("%s\n", text);
        free(text);
        url_free(&result);
        url_free(&reference);
    }
    url_free(&base);
    return 0;
}
