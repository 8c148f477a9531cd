#include "calc.h"

#include <stdio.h>

int main(int argc, char **argv) {
    char line[512];
    int number = 0, status = 0;
    FILE *file;
    if (argc != 2) {
        fprintf(stderr, "usage: calc SHEET\n");
        return 2;
    }
    file = fopen(argv[1], "r");
    if (file == NULL) {
        perror(argv[1]);
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        number++;
        if (!cell_read(line)) {
            fprintf(stderr, "%s:%d: not understood\n", argv[1], number);
            status = 1;
        }
    }
    fclose(file);
    sheet_show();
    cells_free();
    return status;
}
