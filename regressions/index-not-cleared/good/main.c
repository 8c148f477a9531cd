#include "names.h"

#include <stdio.h>
#include <string.h>

/* Arguments are names to add; `-` forgets all, `?name` asks. */
int main(int argc, char **argv)
{
    struct names names;
    if (!names_open(&names, 4))
        return 2;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-") == 0) {
            names_clear(&names);
            puts("forgotten");
        } else if (argv[i][0] == '?') {
            printf("%s: %s\n", argv[i] + 1, names_has(&names, argv[i] + 1) ? "yes" : "no");
        } else {
            printf("%s: %d\n", argv[i], names_add(&names, argv[i]));
        }
    }
    names_close(&names);
    return 0;
}
