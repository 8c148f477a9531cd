#include "fill.h"

#include <string.h>

static int format(struct page *page, FILE *in) {
    char line[512], text[1024];
    int number = 0, status = 0;

    while (fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        expand_strings(line, text, sizeof text);
        if (text[0] == '.') {
            if (!command(page, text)) {
                fprintf(stderr, "line %d: no such command: %s\n", number, text);
                status = 1;
            }
        } else {
            add_text(page, text);
        }
    }
    end_paragraph(page);
    return status;
}

int main(int argc, char **argv) {
    static struct page page;
    int status = 0;

    page_start(&page, stdout);
    if (argc < 2)
        return format(&page, stdin);
    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "r");
        if (in == NULL) {
            perror(argv[i]);
            return 2;
        }
        status |= format(&page, in);
        fclose(in);
    }
    return status;
}
