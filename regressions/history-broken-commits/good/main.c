#include "as8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **lines;
static int line_count;

static int read_lines(const char *path) {
    char buffer[512];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 0;
    }
    while (fgets(buffer, sizeof buffer, file)) {
        buffer[strcspn(buffer, "\n")] = '\0';
        lines = realloc(lines, (size_t)(line_count + 1) * sizeof *lines);
        lines[line_count++] = strdup(buffer);
    }
    fclose(file);
    return 1;
}

static void print_symbol(const struct symbol *symbol) {
    printf("%-12s $%04x  %d uses\n", symbol->name, symbol->value & 0xffff, symbol->uses);
}

int main(int argc, char **argv) {
    int list = 0, status = 1;
    if (argc > 1 && strcmp(argv[1], "-l") == 0) {
        list = 1;
        argv++;
        argc--;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: as8 [-l] FILE\n");
        return 2;
    }
    if (!read_lines(argv[1]))
        return 2;
    if (assemble(lines, line_count, list) == 0) {
        if (list) {
            printf("\n");
            symbols_each(print_symbol);
        } else {
            output_dump();
        }
        status = 0;
    }
    for (int i = 0; i < line_count; i++)
        free(lines[i]);
    free(lines);
    symbols_free();
    output_free();
    return status;
}
