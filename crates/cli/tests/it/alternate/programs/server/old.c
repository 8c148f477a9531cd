/* The reference: looks at the first character of the address. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[64];
    if (!fgets(line, sizeof line, stdin) || strncmp(line, "GET ", 4) != 0) {
        puts("501 not implemented");
        return 0;
    }
    char c = line[4];
    if (c == '/')
        puts("200 index.html");
    else if (c == '\\')
        puts("403 forbidden");
    else if (c == '*')
        puts("405 not allowed");
    else if (c == '.')
        puts("404 not found");
    else if (c == '%')
        puts("414 not decoded");
    else
        puts("400 bad request");
    return 0;
}
