// fmemopen, open_memstream, setvbuf, tmpfile.
// expect: 3
// expect: 121 68;102;136;170;204;2
// expect: 328350
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char text[] = "12 34\n56";
    FILE *f = fmemopen(text, sizeof text - 1, "r");
    int a, b, c;
    printf("%d\n", fscanf(f, "%d %d %d", &a, &b, &c));
    fclose(f);
    char *out = NULL;
    size_t len = 0;
    f = open_memstream(&out, &len);
    for (int i = 0; i < 30; i++) fprintf(f, "%d;", a + b * i + c);
    fclose(f);
    printf("%zu %.20s\n", len, out);
    free(out);
    f = tmpfile();
    static char mine[64];
    setvbuf(f, mine, _IOFBF, sizeof mine);
    for (int i = 0; i < 100; i++) putw(i * i, f);
    rewind(f);
    long t = 0;
    for (int i = 0; i < 100; i++) t += getw(f);
    printf("%ld\n", t);
    fclose(f);
    return 0;
}
