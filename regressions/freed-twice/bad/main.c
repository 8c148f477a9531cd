#include "outline.h"

#include <stdio.h>

/* Says how deep each word's brackets are. */
int main(int argc, char **argv)
{
    struct outline outline;
    outline_start(&outline);
    for (int n = 1; n < argc; n++) {
        const char *at = argv[n], *word = argv[n];
        while (*at && outline_take(&outline, *at))
            at++;
        if (*at)
            printf("%s: wrong at %d\n", word, (int)(at - word));
        else
            printf("%s: %zu deep\n", word, outline.deepest);
        outline_reset(&outline);
    }
    outline_end(&outline);
    return 0;
}
