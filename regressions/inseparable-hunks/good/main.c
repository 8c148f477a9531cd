/* Lists what is in an archive. */
#include "archive.h"

#include <stdio.h>
#include <string.h>

static int usage(void) {
    fprintf(stderr, "usage: lsar [-a] FILE\n");
    return 2;
}

int main(int argc, char **argv) {
    static struct archive archive;
    struct bytes bytes;
    int all = 0, at = 1;

    if (at < argc && strcmp(argv[at], "-a") == 0) {
        all = 1;
        at++;
    }
    if (at + 1 != argc)
        return usage();
    if (bytes_load(&bytes, argv[at]) != 0) {
        fprintf(stderr, "lsar: cannot read %s\n", argv[at]);
        bytes_free(&bytes);
        return 2;
    }
    if (archive_parse(&archive, &bytes) != 0 || archive_verify(&archive, &bytes) != 0) {
        printf("%s: %s\n", argv[at], archive.error);
        bytes_free(&bytes);
        return 1;
    }
    archive_list(&archive, all);
    archive_totals(&archive);
    bytes_free(&bytes);
    return 0;
}
