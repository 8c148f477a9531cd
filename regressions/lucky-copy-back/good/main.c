#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "sheet.h"

static struct sheet sheet;

static int row_number(const char *text) {
    int row = atoi(text);
    return row >= 1 && row <= ROWS ? row - 1 : -1;
}

/* Obeys one line; returns 0 if it makes no sense. */
static int obey(char *line) {
    char *command = strtok(line, " \t\n");
    char *first = strtok(NULL, " \t\n");
    char *second = strtok(NULL, " \t\n");
    if (!command || *command == '#')
        return 1;
    if (strcmp(command, "set") == 0 && first && second) {
        struct address a;
        const char *rest = address_parse(first, &a);
        return rest && *rest == '\0' && sheet_set(&sheet, &a, second);
    }
    if (strcmp(command, "insert") == 0 && first && row_number(first) >= 0) {
        sheet_insert_row(&sheet, row_number(first));
        return 1;
    }
    if (strcmp(command, "delete") == 0 && first && row_number(first) >= 0) {
        sheet_delete_row(&sheet, row_number(first));
        return 1;
    }
    if (strcmp(command, "recalc") == 0) {
        sheet_recalculate(&sheet);
        if (sheet.circular)
            printf("circular: %d\n", sheet.circular);
        return 1;
    }
    if (strcmp(command, "print") == 0) {
        sheet_print(&sheet, stdout);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    char line[256];
    int number = 0, wrong = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!in) {
        perror(argv[1]);
        return 2;
    }
    sheet_init(&sheet);
    while (fgets(line, sizeof line, in)) {
        number++;
        if (!obey(line)) {
            fprintf(stderr, "line %d: not understood\n", number);
            wrong = 1;
        }
    }
    if (in != stdin)
        fclose(in);
    return wrong;
}
