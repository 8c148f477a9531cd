/* Evaluates a sheet and prints it. */
#include "formula.h"

#include <stdlib.h>
#include <string.h>

static int usage(void) {
    fprintf(stderr, "usage: calc [-s COLUMN] FILE\n");
    return 2;
}

static int value_of(struct sheet *sheet, const char *name) {
    struct parser parser = { sheet, name, 0, NULL };
    double value;
    int row, col;
    if (!parse_cell(&parser, &row, &col) || *parser.at != '\0')
        return usage();
    if (!eval_cell(sheet, row, col, &value)) {
        printf("%s: %s\n", name, sheet_get_text(sheet, row, col));
        return 1;
    }
    printf("%s: %g\n", name, value);
    return 0;
}

int main(int argc, char **argv) {
    struct sheet *sheet;
    const char *path = NULL, *sort = NULL, *cell = NULL;
    int status = 0;
    FILE *in;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            sort = argv[++i];
        else if (strcmp(argv[i], "-c") == 0 && i + 1 < argc)
            cell = argv[++i];
        else if (path == NULL)
            path = argv[i];
        else
            return usage();
    }
    if (path == NULL)
        return usage();
    in = fopen(path, "r");
    if (in == NULL) {
        perror(path);
        return 2;
    }
    sheet = sheet_new();
    if (sheet == NULL || load(sheet, in) != 0) {
        fprintf(stderr, "calc: %s is too large\n", path);
        fclose(in);
        return 2;
    }
    fclose(in);
    eval_sheet(sheet);
    if (sort)
        sort_rows(sheet, sort[0] - 'A' + 1, 2);
    if (cell)
        status = value_of(sheet, cell);
    else
        print_sheet(sheet, stdout);
    sheet_free(sheet);
    return status;
}
