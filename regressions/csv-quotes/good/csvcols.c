/* Prints chosen columns of a CSV table from standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64

struct text {
    char *bytes;
    size_t length;
    size_t room;
};

static void append(struct text *text, int c) {
    if (text->length + 1 >= text->room) {
        text->room = text->room ? text->room * 2 : 16;
        text->bytes = realloc(text->bytes, text->room);
        if (text->bytes == NULL) {
            perror("csvcols");
            exit(1);
        }
    }
    text->bytes[text->length++] = (char)c;
    text->bytes[text->length] = '\0';
}

enum ending { FIELD_ENDED, ROW_ENDED, INPUT_ENDED };

/* Reads one field. `out` owns the text afterwards. */
static enum ending read_field(FILE *in, char **out) {
    struct text field = {0};
    int c = getc(in);
    enum ending ending;

    append(&field, ' ');
    field.length = 0;
    field.bytes[0] = '\0';
    if (c == '"') {
        for (;;) {
            c = getc(in);
            if (c == EOF)
                break;
            if (c != '"') {
                append(&field, c);
                continue;
            }
            int next = getc(in);
            if (next == '"') {
                append(&field, '"');
                continue;
            }
            c = next;
            break;
        }
    } else {
        while (c != EOF && c != ',' && c != '\n') {
            append(&field, c);
            c = getc(in);
        }
    }
    while (c != EOF && c != ',' && c != '\n')
        c = getc(in);
    if (c == ',')
        ending = FIELD_ENDED;
    else if (c == '\n')
        ending = ROW_ENDED;
    else
        ending = INPUT_ENDED;
    *out = field.bytes;
    return ending;
}

static void print_escaped(const char *text) {
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", stdout);
        else
            putchar(*text);
    }
}

int main(int argc, char **argv) {
    char *row[MAX_COLUMNS];
    int columns = 0;
    enum ending ending;

    if (argc < 2) {
        fprintf(stderr, "usage: csvcols COLUMN... < TABLE\n");
        return 2;
    }
    do {
        char *field;
        ending = read_field(stdin, &field);
        if (ending == INPUT_ENDED && columns == 0 && *field == '\0') {
            free(field);
            break;
        }
        if (columns < MAX_COLUMNS)
            row[columns++] = field;
        if (ending == FIELD_ENDED)
            continue;
        for (int i = 1; i < argc; i++) {
            int wanted = atoi(argv[i]);
            if (i > 1)
                putchar('\t');
            if (wanted >= 1 && wanted <= columns)
                print_escaped(row[wanted - 1]);
        }
        putchar('\n');
        for (int i = 0; i < columns; i++)
            free(row[i]);
        columns = 0;
    } while (ending != INPUT_ENDED);
    return 0;
}
