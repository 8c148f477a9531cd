// ctype goes through tables of the C library that nobody instrumented.
// expect: 52 10 6 32 22 26 33 95
// expect: hELLO, wORLD 42
#include <ctype.h>
#include <stdio.h>

int main(void) {
    int counts[8] = {0};
    for (int c = 0; c < 256; c++) {
        counts[0] += !!isalpha(c); counts[1] += !!isdigit(c); counts[2] += !!isspace(c); counts[3] += !!ispunct(c);
        counts[4] += !!isxdigit(c); counts[5] += !!isupper(c); counts[6] += !!iscntrl(c); counts[7] += !!isprint(c);
    }
    for (int i = 0; i < 8; i++) printf("%d ", counts[i]);
    putchar('\n');
    const char *s = "Hello, World 42";
    for (const char *p = s; *p; p++) putchar(isupper((unsigned char)*p) ? tolower((unsigned char)*p) : toupper((unsigned char)*p));
    putchar('\n');
    return 0;
}
