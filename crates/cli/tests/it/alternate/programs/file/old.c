/* Reads a file that is named by an argument. */
#include <stdio.h>

int main(int argc, char **argv) {
    FILE *f = fopen(argc > 1 ? argv[1] : "in.txt", "r");
    if (!f)
        return 2;
    int a = fgetc(f), b = fgetc(f);
    fclose(f);
    puts(a >= b ? "descending" : "ascending");
    return 0;
}
