// Write a file, read it back by every reading function, seek in it.
// expect: 703
// expect: 50 line 49 34441
// expect: # tail
// expect: 4 1 4
// expect: 0
// expect: 4 1 0
// expect: 707
// expect: 0 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    FILE *f = fopen("stdio.dat", "w+");
    if (!f) return 1;
    for (int i = 0; i < 50; i++) fprintf(f, "line %02d %x\n", i, i * 0x1111);
    fputc('#', f);
    fputs("tail\n", f);
    int raw[4] = {1, 2, 3, 4};
    fwrite(raw, sizeof *raw, 4, f);
    printf("%ld\n", ftell(f));
    rewind(f);
    char line[40];
    int lines = 0;
    while (lines < 50 && fgets(line, sizeof line, f)) lines++;
    printf("%d %s", lines, line);
    printf("%c", fgetc(f));
    int c = getc(f);
    ungetc(c, f);
    fscanf(f, "%39s", line);
    printf(" %s\n", line);
    fgetc(f);
    int back[4] = {0};
    size_t got = fread(back, sizeof *back, 4, f);
    printf("%zu %d %d\n", got, back[0], back[3]);
    fseek(f, 5, SEEK_SET);
    int number;
    if (fscanf(f, "%d", &number) != 1) return 1;
    printf("%d\n", number);
    fseek(f, -4, SEEK_END);
    got = fread(back, 1, 16, f);
    printf("%zu %d %d\n", got, feof(f) != 0, ferror(f));
    fclose(f);
    f = fopen("stdio.dat", "a");
    fputs("more", f);
    fclose(f);
    f = fopen("stdio.dat", "rb");
    fseek(f, 0, SEEK_END);
    printf("%ld\n", ftell(f));
    fclose(f);
    printf("%d %d\n", remove("stdio.dat"), fopen("stdio.dat", "r") == NULL);
    return 0;
}
