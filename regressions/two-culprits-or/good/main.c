#include "fill.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct paragraph paragraph;

static int leading(const char *line) {
    int count = 0;
    while (line[count] == ' ')
        count++;
    return count;
}

/* `- ` and `12. ` start an item, whose other lines hang below its text. */
static int bullet(const char *text) {
    int length = 0;
    if (strncmp(text, "- ", 2) == 0)
        return 2;
    while (isdigit((unsigned char)text[length]))
        length++;
    if (length > 0 && strncmp(text + length, ". ", 2) == 0)
        return length + 2;
    return 0;
}

static void flush(const struct settings *settings) {
    if (paragraph.count > 0)
        paragraph_print(&paragraph, settings, stdout);
    paragraph_clear(&paragraph);
}

static void add_words(const char *text) {
    while (*text) {
        size_t length;
        while (isspace((unsigned char)*text))
            text++;
        length = strcspn(text, " \t\n");
        if (length > 0)
            paragraph_add(&paragraph, text, length);
        text += length;
    }
}

static void read_text(FILE *file, const struct settings *settings) {
    char line[LINE_ROOM];
    while (fgets(line, sizeof line, file)) {
        int indent = leading(line);
        if (line[indent] == '\n' || line[indent] == '\0') {
            flush(settings);
            printf("\n");
            continue;
        }
        if (bullet(line + indent) > 0)
            flush(settings);
        if (paragraph.count == 0) {
            paragraph.indent = indent;
            paragraph.hang = indent + bullet(line + indent);
        }
        add_words(line + indent);
    }
    flush(settings);
}

int main(int argc, char **argv) {
    struct settings settings = {72, 0, 0};
    int i = 1;
    FILE *file = stdin;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "-j") == 0)
            settings.justify = 1;
        else if (strcmp(argv[i], "-s") == 0)
            settings.two_spaces = 1;
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
            settings.width = atoi(argv[++i]);
    }
    if (i < argc && (file = fopen(argv[i], "r")) == NULL) {
        perror(argv[i]);
        return 1;
    }
    read_text(file, &settings);
    if (file != stdin)
        fclose(file);
    return 0;
}
