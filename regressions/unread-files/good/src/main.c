#include "pick.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    struct ignore_rules rules = {NULL, 0};
    struct listing listing = {NULL, 0, 0};
    int others = argc > 1 && strcmp(argv[1], "-i") == 0;
    argv += others;
    argc -= others;
    if (argc != 3) {
        fprintf(stderr, "usage: pick [-i] RULES LISTING\n");
        return 2;
    }
    if (!ignore_load(&rules, argv[1]) || !listing_load(&listing, argv[2])) {
        fprintf(stderr, "pick: a file cannot be read\n");
        return 2;
    }
    listing_sort(&listing);
    for (int i = 0; i < listing.count; i++)
        if (ignore_path(&rules, listing.paths[i]) == others)
            printf("%s\n", listing.paths[i]);
    ignore_free(&rules);
    listing_free(&listing);
    return 0;
}
